// Command signin is the Lambda function by which people sign in to the console and sign out.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/signin"
)

func main() { serve.Group(signin.Group()) }
