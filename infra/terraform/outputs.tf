output "address" {
  description = "The address of the API and the console."
  value       = aws_cloudformation_stack.guidon.outputs["Address"]
}

output "admin_token_secret" {
  description = "The secret of Secrets Manager that has the admin token. Terraform does not read the token, so it is not in the state."
  value       = aws_cloudformation_stack.guidon.outputs["AdminTokenSecret"]
}

output "outputs" {
  description = "All outputs of the stack, which docs/deploying.md explains: some exist only with certain parameters."
  value       = aws_cloudformation_stack.guidon.outputs
}
