package releases_test

import (
	"os"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }
