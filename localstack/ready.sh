#!/bin/sh
# What LocalStack runs once it is ready: it makes the table as template.yaml has it, seeds it, and keeps the key of the
# tokens' secrets in Secrets Manager, where the functions read it. Done again, it changes nothing.
#
# compose.yaml puts it into the container with all that it needs, under /guidon: template.yaml, and in local/ the program
# and the key. A test runs it where that folder is elsewhere.
set -eu
cd "${GUIDON:-/guidon}"

export AWS_ENDPOINT_URL="${AWS_ENDPOINT_URL:-http://127.0.0.1:4566}"
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
secret=guidon-token-key

AWS_ENDPOINT_URL_DYNAMODB=$AWS_ENDPOINT_URL TEMPLATE_FILE=template.yaml DATA_DIR=local local/guidon setup

awslocal secretsmanager describe-secret --secret-id $secret >/dev/null 2>&1 ||
	awslocal secretsmanager create-secret --name $secret --secret-string file://local/token.key >/dev/null

echo "guidon: the table ${TABLE_NAME:-guidon} and the secret $secret are ready"
