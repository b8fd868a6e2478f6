//go:build ignore

// Command program reads flags through code that the OpenFeature CLI has generated into the package flags beside it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"

	"clients/flags"
)

func main() {
	if err := openfeature.SetProviderAndWait(ofrep.NewProvider(os.Getenv("URL"), ofrep.WithBearerToken(os.Getenv("TOKEN")))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, user := context.Background(), openfeature.NewEvaluationContext("user-1", nil)
	var results int64 = flags.SearchResults.Value(ctx, user)
	var ratio float64 = flags.Ratio.Value(ctx, user)
	var greeting string = flags.Greeting.Value(ctx, user)
	var plain bool = flags.Plain.Value(ctx, user)
	limits := flags.Limits.Value(ctx, user).(map[string]any)
	fmt.Println(results, ratio, greeting, plain, limits["size"])
}
