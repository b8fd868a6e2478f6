// Command features is the Lambda function for the flags themselves: list, create, read, change, clone, archive, on and off.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/features"
)

func main() { serve.Group(features.Group()) }
