// Command transfer is the Lambda function for export, import and the validation of import data.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/transfer"
)

func main() { serve.Group(transfer.Group()) }
