# Deploys a stage of Guidon from the files of a release, which are in the folder `release`: see docs/operations/terraform.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  description = "The AWS region of the stage."
  type        = string
  default     = "eu-central-1"
}

variable "release" {
  description = "The unpacked archive guidon-<version>-aws-<architecture>.zip of a release."
  type        = string
  default     = "./release"
}

resource "aws_s3_bucket" "code" {
  bucket_prefix = "guidon-code-"
}

module "guidon" {
  source  = "../../../infra/terraform"
  name    = "guidon-dev"
  release = var.release
  bucket  = aws_s3_bucket.code.id
  parameters = {
    Alarms           = "off"
    LogRetentionDays = 7
  }
  tags = { Service = "guidon", Stage = "dev" }
}

output "address" {
  value = module.guidon.address
}

output "admin_token_secret" {
  value = module.guidon.admin_token_secret
}
