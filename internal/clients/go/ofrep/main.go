// Command ofrep runs the OFREP provider of OpenFeature, which sends a request for each evaluation.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"

	"clients/follow"
)

func main() {
	if err := openfeature.SetProviderAndWait(ofrep.NewProvider(follow.URL, ofrep.WithBearerToken(follow.Token))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := openfeature.NewClient("clients")
	follow.Flags(func(flag follow.Flag, user follow.User) string {
		in := openfeature.NewEvaluationContext(user.UserID, map[string]any{"plan": user.Plan})
		value, details, err := evaluate(client, flag, in)
		switch {
		case err != nil && details.ErrorCode != openfeature.FlagNotFoundCode && details.ErrorCode != openfeature.TypeMismatchCode:
			fmt.Fprintln(os.Stderr, flag.Name, err)
			return follow.Answer(false)
		case err != nil:
			return follow.Answer(false)
		case flag.Type == "boolean":
			return follow.Answer(value == "true")
		case details.Variant == "":
			return follow.Answer(false)
		}
		return follow.Answer(true, details.Variant, value)
	}, 500*time.Millisecond)
}

// evaluate returns the value as text.
func evaluate(client *openfeature.Client, flag follow.Flag, in openfeature.EvaluationContext) (string, openfeature.EvaluationDetails, error) {
	ctx := context.Background()
	switch flag.Type {
	case "boolean":
		got, err := client.BooleanValueDetails(ctx, flag.Name, false, in)
		return fmt.Sprint(got.Value), got.EvaluationDetails, err
	case "string":
		got, err := client.StringValueDetails(ctx, flag.Name, "", in)
		return got.Value, got.EvaluationDetails, err
	case "number":
		got, err := client.FloatValueDetails(ctx, flag.Name, 0, in)
		return fmt.Sprint(got.Value), got.EvaluationDetails, err
	case "object":
		got, err := client.ObjectValueDetails(ctx, flag.Name, map[string]any{}, in)
		text, fault := json.Marshal(got.Value)
		return string(text), got.EvaluationDetails, errors.Join(err, fault)
	}
	panic("unknown type " + flag.Type)
}
