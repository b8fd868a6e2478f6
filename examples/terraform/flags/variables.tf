variable "teams" {
  description = "The teams by the ID of their project."
  type = map(object({
    name        = string
    description = optional(string)
    owner       = string # the email of a user
    members     = optional(list(string), [])
  }))
  default = {
    checkout = {
      name        = "Checkout"
      description = "Cart, payment and delivery"
      owner       = "ada@example.com"
      members     = ["bob@example.com"]
    }
    search = {
      name  = "Search"
      owner = "bob@example.com"
    }
  }
}

variable "users" {
  description = "The users by email, with the name that the console shows."
  type        = map(string)
  default = {
    "ada@example.com" = "Ada"
    "bob@example.com" = "Bob"
  }
}

variable "environments" {
  description = "The environments by name, with their type. Each project has all of them."
  type        = map(string)
  default = {
    staging = "preproduction"
    live    = "production"
  }
}

variable "tokens_expire_at" {
  description = "When the tokens of this example expire."
  type        = string
  default     = "2030-01-01T00:00:00Z"
}
