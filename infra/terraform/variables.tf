variable "name" {
  description = "The name of the stack, such as guidon-prod. The names of its resources begin with it."
  type        = string
  validation {
    condition     = can(regex("^[a-zA-Z][a-zA-Z0-9-]{0,49}$", var.name))
    error_message = "The name begins with a letter, and has at most 50 letters, digits and hyphens."
  }
}

variable "release" {
  description = "The unpacked archive guidon-<version>-aws-<architecture>.zip of a release: a folder with template.yaml and functions."
  type        = string
  validation {
    condition     = fileexists("${var.release}/template.yaml") && length(fileset(var.release, "functions/*.zip")) > 0
    error_message = "The folder has no template.yaml, or no functions/*.zip. Unpack guidon-<version>-aws-<architecture>.zip of a release."
  }
}

variable "bucket" {
  description = "The name of an S3 bucket in the same region. It gets the template and the functions."
  type        = string
}

variable "prefix" {
  description = "The start of the names of all objects in the bucket."
  type        = string
  default     = "guidon"
}

variable "parameters" {
  description = "Parameters of the template by name, as in docs/deploying.md. All but Alarms have a default."
  type        = map(string)
  default     = {}
}

variable "execution_role_arn" {
  description = "The role that CloudFormation uses to create the resources. By default it uses the caller's permissions."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the stack and of all its resources."
  type        = map(string)
  default     = {}
}
