terraform {
  required_version = ">= 1.5"
  required_providers {
    unleash = {
      source  = "Unleash/unleash"
      version = "~> 3.4"
    }
  }
}

# The address, without /api, is in UNLEASH_URL, and an admin token in AUTH_TOKEN, so that neither is in a file.
provider "unleash" {}
