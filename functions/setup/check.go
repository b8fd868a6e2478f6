package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"

	"guidon/pkg/access"
)

// A deployment is the event that CodeDeploy sends to a hook.
type deployment struct {
	DeploymentID string `json:"DeploymentId"`
	ExecutionID  string `json:"LifecycleEventHookExecutionId"`
}

type hook struct {
	deployments *codedeploy.Client
	functions   *lambdaapi.Client
}

func newHook(ctx context.Context) (hook, error) {
	aws, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return hook{}, err
	}
	return hook{codedeploy.NewFromConfig(aws), lambdaapi.NewFromConfig(aws)}, nil
}

// handle checks the new version and reports the result to CodeDeploy. It fails only if the report fails; CodeDeploy then
// waits for an hour and stops the deployment.
func (h hook) handle(ctx context.Context, e deployment) error {
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

// check sends requests to each version that the deployment is about to shift traffic to.
func (h hook) check(ctx context.Context, deployment string) error {
	list, err := h.deployments.ListDeploymentTargets(ctx, &codedeploy.ListDeploymentTargetsInput{DeploymentId: &deployment})
	if err != nil {
		return err
	}
	keys, err := tokenKeys(ctx)
	if err != nil {
		return fmt.Errorf("reading the keys that the tokens are derived from: %w", err)
	}
	checked := 0
	for _, id := range list.TargetIds {
		out, err := h.deployments.GetDeploymentTarget(ctx, &codedeploy.GetDeploymentTargetInput{DeploymentId: &deployment, TargetId: &id})
		if err != nil {
			return err
		}
		target := out.DeploymentTarget
		if target == nil || target.LambdaTarget == nil || target.LambdaTarget.LambdaFunctionInfo == nil {
			continue
		}
		if err := h.checkVersion(ctx, target.LambdaTarget.LambdaFunctionInfo, keys); err != nil {
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

func (h hook) checkVersion(ctx context.Context, info *types.LambdaFunctionInfo, keys string) error {
	function, version := aws.ToString(info.FunctionName), aws.ToString(info.TargetVersion)
	name := strings.ToLower(function[strings.LastIndex(function, "-")+1:])
	p, ok := probes[name]
	if !ok {
		return fmt.Errorf("the hook has no request for the function %s", function)
	}
	if err := h.invokeUntil(ctx, function, version, p.event("*:*.smoke-test-of-a-deployment"), p.status); err != nil || p.token == "" {
		return err
	}
	// A valid token. It is not known before the first start of the version that has it, and an administrator can have deleted it:
	// then the version that serves callers does not know it either. If that one fails, this may be its repair.
	token, err := smokeToken(p.token, keys)
	if err != nil {
		return err
	}
	request := p.event(token)
	want := []int{p.valid, 401}
	if serving, _, err := h.invoke(ctx, function, aws.ToString(info.FunctionAlias), request); err == nil && serving < 500 {
		want[1] = serving
	}
	return h.invokeUntil(ctx, function, version, request, want...)
}

// invokeUntil sends a request to a version, and again if the answer is wrong.
func (h hook) invokeUntil(ctx context.Context, function, version string, request events.APIGatewayV2HTTPRequest, want ...int) error {
	for attempt := 1; ; attempt++ {
		status, body, err := h.invoke(ctx, function, version, request)
		if err == nil && !slices.Contains(want, status) {
			err = fmt.Errorf("%s, version %s, answered %d %.500s; want one of %v", function, version, status, body, want)
		}
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

func (h hook) invoke(ctx context.Context, function, version string, request events.APIGatewayV2HTTPRequest) (status int, body string, err error) {
	payload, err := json.Marshal(request)
	if err != nil {
		return 0, "", err
	}
	out, err := h.functions.Invoke(ctx, &lambdaapi.InvokeInput{FunctionName: &function, Qualifier: &version, Payload: payload})
	if err != nil {
		return 0, "", err
	}
	if out.FunctionError != nil {
		return 0, "", fmt.Errorf("%s, version %s: %s", function, version, out.Payload)
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(out.Payload, &response); err != nil {
		return 0, "", fmt.Errorf("%s, version %s: %w", function, version, err)
	}
	return response.StatusCode, response.Body, nil
}

// A probe is a request that changes nothing, the expected status with a token that does not exist, the kind of a token that does, and
// the status with that.
type probe struct {
	path   string
	status int
	token  access.TokenType
	valid  int
}

// probes contains one for each function with canaries. A function that reads the table looks up the token, which does not
// exist, and answers 401: so it starts, has its settings and can read the table. The site has no table and answers 200. With a
// token that exists, each answers as the version that serves callers does. An export without a body is a 400.
var probes = map[string]probe{
	"features":      {"/api/admin/projects/default/features", 401, access.PersonalToken, 200},
	"projects":      {"/api/admin/projects", 401, access.PersonalToken, 200},
	"configuration": {"/api/admin/segments", 401, access.PersonalToken, 200},
	"access":        {"/api/admin/user", 401, access.PersonalToken, 200},
	"transfer":      {"/api/admin/features-batch/export", 401, access.PersonalToken, 400},
	"insight":       {"/api/admin/events", 401, access.PersonalToken, 200},
	"integrations":  {"/api/admin/addons", 401, access.PersonalToken, 200},
	"applications":  {"/api/client/features", 401, access.ClientToken, 200},
	"frontend":      {"/api/frontend", 401, access.FrontendToken, 200},
	"site":          {"/health", 200, "", 0},
}

// event returns the request as API Gateway sends it.
func (p probe) event(token string) events.APIGatewayV2HTTPRequest {
	method := "GET"
	if strings.HasSuffix(p.path, "/export") {
		method = "POST"
	}
	request := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "ANY " + p.path, RawPath: p.path,
		Headers: map[string]string{"accept": "application/json", "authorization": token, "host": "smoke.invalid"},
	}
	request.RequestContext.Stage = "$default"
	request.RequestContext.HTTP.Method, request.RequestContext.HTTP.Path = method, p.path
	request.RequestContext.HTTP.Protocol, request.RequestContext.HTTP.SourceIP = "HTTP/1.1", "127.0.0.1"
	return request
}
