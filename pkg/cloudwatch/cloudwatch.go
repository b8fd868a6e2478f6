// Package cloudwatch reads the states of Amazon CloudWatch's alarms, which stop release plans. Only functions that serve
// release plans or their templates link it.
package cloudwatch

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"guidon/pkg/awsconfig"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	attemptTimeout = 2 * time.Second
	perCall        = 100 // alarms that AWS reads in one call
	maxName        = 255
)

// Use has a service read the alarms whose ARNs begin with PLAN_ALARMS of the environment; none without it.
func Use(config *httpapi.Config) { config.Alarms = Alarms(os.Getenv("PLAN_ALARMS")) }

// Alarms reads the alarms whose ARNs begin with prefix, with a call for each hundred. Without a prefix it is nil: no alarms can be read.
func Alarms(prefix string) *httpapi.Alarms {
	if prefix == "" {
		return nil
	}
	client := sdk.NewFromConfig(awsconfig.FromEnvironment("CLOUDWATCH", attemptTimeout))
	return &httpapi.Alarms{Prefix: prefix, Read: func(ctx context.Context, arns []string) (map[string]flags.AlarmState, error) {
		var names []string
		for _, arn := range arns {
			if name, is := strings.CutPrefix(arn, prefix); is && valid(name) {
				names = append(names, name)
			}
		}
		states := map[string]flags.AlarmState{}
		for some := range slices.Chunk(names, perCall) {
			out, err := client.DescribeAlarms(ctx, &sdk.DescribeAlarmsInput{
				AlarmNames: some, AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm}, MaxRecords: aws.Int32(perCall),
			})
			if err != nil {
				return nil, &flags.Error{Kind: flags.Unavailable, Message: "the alarms cannot be read now; try again", Err: err}
			}
			for _, a := range out.MetricAlarms {
				missing := cmp.Or(aws.ToString(a.TreatMissingData), "missing") // AWS's default
				states[aws.ToString(a.AlarmArn)] = flags.AlarmState{State: string(a.StateValue), Since: aws.ToTime(cmp.Or(a.StateTransitionedTimestamp, a.StateUpdatedTimestamp)).UTC(), Reason: aws.ToString(a.StateReason), MissingData: missing == "missing"}
			}
			for _, a := range out.CompositeAlarms {
				states[aws.ToString(a.AlarmArn)] = flags.AlarmState{State: string(a.StateValue), Since: aws.ToTime(cmp.Or(a.StateTransitionedTimestamp, a.StateUpdatedTimestamp)).UTC(), Reason: aws.ToString(a.StateReason)}
			}
		}
		return states, nil
	}}
}

// valid reports whether an alarm can have a name. AWS refuses the whole call for another one, which would hide the other alarms.
func valid(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, unicode.IsControl)
}
