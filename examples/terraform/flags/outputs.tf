output "server_tokens" {
  description = "The token of each project and environment. Write them into the secrets of the applications."
  value       = { for key, token in unleash_api_token.server : key => token.secret }
  sensitive   = true
}
