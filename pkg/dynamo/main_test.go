package dynamo_test

import (
	"os"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/flags/storetest"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) flags.FeedStore { return dynamotest.Open(t, nil) })
}
