# Deploys a release of Guidon: uploads its functions and its template, and lets CloudFormation create the stack.

locals {
  template = file("${var.release}/template.yaml")

  # The name of an object contains the checksum of its content. So a new function is a new object, which CloudFormation sees,
  # and an unchanged one stays as it is.
  keys = {
    for path in fileset(var.release, "functions/*.zip") :
    path => "${var.prefix}/${trimsuffix(path, ".zip")}-${filesha256("${var.release}/${path}")}.zip"
  }

  # The template of a release names the functions by their path: CodeUri: functions/features.zip. CloudFormation needs S3.
  function = "functions/[a-z]+\\.zip"
  deployed = join("\n", [
    for line in split("\n", local.template) : length(regexall(local.function, line)) == 0 ? line :
    replace(line, regex(local.function, line), "s3://${var.bucket}/${local.keys[regex(local.function, line)]}")
  ])
}

resource "aws_s3_object" "function" {
  for_each = local.keys
  bucket   = var.bucket
  key      = each.value
  source   = "${var.release}/${each.key}"

  lifecycle {
    create_before_destroy = true     # if an update fails, CloudFormation goes back to the object before
    ignore_changes        = [source] # the folder of another release: the key has the checksum
  }
}

# The template is larger than the 51,200 bytes that a request to CloudFormation may have.
resource "aws_s3_object" "template" {
  bucket       = var.bucket
  key          = "${var.prefix}/template-${sha256(local.deployed)}.yaml"
  content      = local.deployed
  content_type = "application/yaml"

  lifecycle {
    create_before_destroy = true
  }
}

data "aws_s3_bucket" "code" {
  bucket = var.bucket
}

# The bucket is in the path, because a name with dots has no certificate as a part of the host.
locals {
  s3 = trimprefix(data.aws_s3_bucket.code.bucket_regional_domain_name, "${var.bucket}.")
}

resource "aws_cloudformation_stack" "guidon" {
  name         = var.name
  template_url = "https://${local.s3}/${var.bucket}/${aws_s3_object.template.key}"
  parameters   = var.parameters
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
  iam_role_arn = var.execution_role_arn
  tags         = var.tags
  depends_on   = [aws_s3_object.function]

  timeouts {
    create = "60m"
    update = "60m" # a gradual deployment of all functions
    delete = "60m"
  }
}
