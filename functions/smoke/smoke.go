package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
)

// An event is the event that CodeDeploy sends to a hook.
type event struct {
	DeploymentID string `json:"DeploymentId"`
	ExecutionID  string `json:"LifecycleEventHookExecutionId"`
}

type hook struct {
	deployments *codedeploy.Client
	functions   *lambdaapi.Client
}

// handle checks the new version and reports the result to CodeDeploy. It fails only if the report fails; CodeDeploy then
// waits for an hour and stops the deployment.
func (h hook) handle(ctx context.Context, e event) error {
	status := types.LifecycleEventStatusSucceeded
	if err := h.check(ctx, e.DeploymentID); err != nil {
		status = types.LifecycleEventStatusFailed
		slog.ErrorContext(ctx, "the new version failed its check", slog.String("deployment", e.DeploymentID), slog.Any("cause", err))
	}
	_, err := h.deployments.PutLifecycleEventHookExecutionStatus(ctx, &codedeploy.PutLifecycleEventHookExecutionStatusInput{
		DeploymentId: &e.DeploymentID, LifecycleEventHookExecutionId: &e.ExecutionID, Status: status,
	})
	return err
}

// check sends a request to each version that the deployment is about to shift traffic to.
func (h hook) check(ctx context.Context, deployment string) error {
	list, err := h.deployments.ListDeploymentTargets(ctx, &codedeploy.ListDeploymentTargetsInput{DeploymentId: &deployment})
	if err != nil {
		return err
	}
	targets, err := h.deployments.BatchGetDeploymentTargets(ctx, &codedeploy.BatchGetDeploymentTargetsInput{
		DeploymentId: &deployment, TargetIds: list.TargetIds,
	})
	if err != nil {
		return err
	}
	checked := 0
	for _, target := range targets.DeploymentTargets {
		if target.LambdaTarget == nil || target.LambdaTarget.LambdaFunctionInfo == nil {
			continue
		}
		info := target.LambdaTarget.LambdaFunctionInfo
		if err := h.checkVersion(ctx, aws.ToString(info.FunctionName), aws.ToString(info.TargetVersion)); err != nil {
			return err
		}
		checked++
	}
	if checked == 0 {
		return errors.New("the deployment has no target that is a Lambda function")
	}
	return nil
}

// attempts limits the attempts to call a version: a new role may not be effective everywhere yet.
const attempts = 3

// pause is between two attempts.
const pause = time.Second

func (h hook) checkVersion(ctx context.Context, function, version string) error {
	name := strings.ToLower(function[strings.LastIndex(function, "-")+1:])
	p, ok := probes[name]
	if !ok {
		return fmt.Errorf("the hook has no request for the function %s", function)
	}
	request, err := json.Marshal(p.event())
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err = h.invoke(ctx, function, version, request, p.status)
		if err == nil || attempt == attempts {
			return err
		}
		slog.WarnContext(ctx, "trying again", slog.Any("cause", err))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (h hook) invoke(ctx context.Context, function, version string, request []byte, want int) error {
	out, err := h.functions.Invoke(ctx, &lambdaapi.InvokeInput{FunctionName: &function, Qualifier: &version, Payload: request})
	if err != nil {
		return err
	}
	if out.FunctionError != nil {
		return fmt.Errorf("%s, version %s: %s", function, version, out.Payload)
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(out.Payload, &response); err != nil {
		return fmt.Errorf("%s, version %s: %w", function, version, err)
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s, version %s, answered %d %.500s; want %d", function, version, response.StatusCode, response.Body, want)
	}
	return nil
}

// A probe is a request that changes nothing, and the expected status.
type probe struct {
	path   string
	status int
}

// probes contains one for each function with canaries. A function that reads the table looks up the token, which does not
// exist, and answers 401: so it starts, has its settings and can read the table. The site has no table and answers 200.
var probes = map[string]probe{
	"features":      {"/api/admin/projects/default/features", 401},
	"projects":      {"/api/admin/projects", 401},
	"configuration": {"/api/admin/segments", 401},
	"access":        {"/api/admin/user-admin", 401},
	"transfer":      {"/api/admin/features-batch/export", 401},
	"insight":       {"/api/admin/events", 401},
	"integrations":  {"/api/admin/addons", 401},
	"applications":  {"/api/client/features", 401},
	"frontend":      {"/api/frontend", 401},
	"site":          {"/health", 200},
}

// event returns the request as API Gateway sends it.
func (p probe) event() events.APIGatewayV2HTTPRequest {
	method := "GET"
	if strings.HasSuffix(p.path, "/export") {
		method = "POST"
	}
	request := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "ANY " + p.path, RawPath: p.path,
		Headers: map[string]string{"accept": "application/json", "authorization": "*:*.smoke-test-of-a-deployment", "host": "smoke.invalid"},
	}
	request.RequestContext.Stage = "$default"
	request.RequestContext.HTTP.Method, request.RequestContext.HTTP.Path = method, p.path
	request.RequestContext.HTTP.Protocol, request.RequestContext.HTTP.SourceIP = "HTTP/1.1", "127.0.0.1"
	return request
}
