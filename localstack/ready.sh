#!/bin/sh
# LocalStack runs this when it is ready. It creates the table, seeds it, and stores the key that encrypts
# tokens in Secrets Manager, where the functions read it. It can be run again.
#
# compose.yaml mounts what it needs in /guidon: the program and the key, in local/. A test sets GUIDON to
# another folder.
set -eu
cd "${GUIDON:-/guidon}"

export AWS_ENDPOINT_URL="${AWS_ENDPOINT_URL:-http://127.0.0.1:4566}"
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
secret=guidon-token-key

AWS_ENDPOINT_URL_DYNAMODB=$AWS_ENDPOINT_URL DATA_DIR=local local/guidon setup

awslocal secretsmanager describe-secret --secret-id $secret >/dev/null 2>&1 ||
	awslocal secretsmanager create-secret --name $secret --secret-string file://local/token.key >/dev/null

echo "guidon: the table ${TABLE_NAME:-guidon} and the secret $secret are ready"
