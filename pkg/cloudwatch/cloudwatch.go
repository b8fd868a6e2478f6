// Package cloudwatch reads the states of Amazon CloudWatch's alarms, which stop release plans. Only functions that start or stop
// milestones link it.
package cloudwatch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"guidon/pkg/awsconfig"
	"guidon/pkg/flags"
)

const (
	attemptTimeout = 2 * time.Second
	perCall        = 100 // alarms that AWS reads in one call
	maxName        = 255
)

// Alarms returns a function that reads alarms by their ARNs, with a call for each hundred. An alarm that does not exist, or whose ARN
// does not begin with prefix, is not in its result. Without a prefix, Alarms returns nil: no alarms can be read.
func Alarms(prefix string) func(ctx context.Context, arns []string) (map[string]flags.AlarmState, error) {
	if prefix == "" {
		return nil
	}
	client := sdk.NewFromConfig(awsconfig.FromEnvironment("CLOUDWATCH", attemptTimeout))
	return func(ctx context.Context, arns []string) (map[string]flags.AlarmState, error) {
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
				states[aws.ToString(a.AlarmArn)] = flags.AlarmState{State: string(a.StateValue), Reason: aws.ToString(a.StateReason), Missing: missing == "missing"}
			}
			for _, a := range out.CompositeAlarms {
				states[aws.ToString(a.AlarmArn)] = flags.AlarmState{State: string(a.StateValue), Reason: aws.ToString(a.StateReason)}
			}
		}
		return states, nil
	}
}

// valid reports whether an alarm can have a name. AWS refuses the whole call for another one, which would hide the other alarms.
func valid(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, unicode.IsControl)
}
