package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// pullTimeout limits the download of the base image, about 45 MB.
const pullTimeout = 5 * time.Minute

// imageName returns the image for the containers of functions. The SAM CLI adds its runtime interface emulator and tags the
// result rapidName.
func imageName(arch architecture) string { return "guidon-lambda:" + arch.sam }

func rapidName(arch architecture) string { return "guidon-lambda:rapid-" + arch.sam }

// buildImage builds the image from AWS's base image, or from a minimal one if the registry cannot be reached. It contains
// the addresses of DynamoDB and Secrets Manager, because the SAM CLI passes only variables that the template declares. Each
// address contains the secret.
func buildImage(ctx context.Context, dir string, arch architecture, secret string) error {
	context := filepath.Join(dir, "image")
	if err := os.RemoveAll(context); err != nil {
		return err
	}
	from := "public.ecr.aws/lambda/provided:al2023-" + arch.sam
	if err := pull(ctx, from); err != nil {
		say("AWS's base image cannot be downloaded, so a minimal image replaces it (%v)", err)
		if err := minimalRoot(ctx, context, arch); err != nil {
			return err
		}
		from = "scratch"
	} else if err := os.MkdirAll(context, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(context, "Dockerfile"), []byte(dockerfile(from, secret)), 0o600); err != nil {
		return err
	}
	before, _ := docker(ctx, "image", "inspect", "--format", "{{.Id}}", imageName(arch)) // fails the first time
	if _, err := docker(ctx, "build", "--quiet", "--tag", imageName(arch), context); err != nil {
		return err
	}
	after, err := docker(ctx, "image", "inspect", "--format", "{{.Id}}", imageName(arch))
	if err != nil || before == after {
		return err
	}
	_, _ = docker(ctx, "image", "rm", "--force", rapidName(arch)) // otherwise the SAM CLI keeps using it
	return nil
}

// pull downloads an image if necessary.
func pull(ctx context.Context, image string) error {
	if _, err := docker(ctx, "image", "inspect", image); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	_, err := docker(ctx, "pull", "--quiet", image)
	return err
}

func dockerfile(from, secret string) string {
	text := "FROM " + from + "\n"
	if from == "scratch" {
		text += "COPY root /\nENV PATH=/bin LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime\nWORKDIR /var/task\n"
	}
	return text + fmt.Sprintf("ENV AWS_ENDPOINT_URL_DYNAMODB=http://%[1]s:%[2]s/%[4]s AWS_ENDPOINT_URL_SECRETS_MANAGER=http://%[1]s:%[3]s/%[4]s\n",
		alias, dynamoPort, secretsPort, secret)
}

// minimalRoot creates what a static binary needs of the base image: the folders, and a shell for the SAM CLI.
func minimalRoot(ctx context.Context, context string, arch architecture) error {
	root := filepath.Join(context, "root")
	for _, folder := range []string{"opt", "tmp", "var/rapid", "var/runtime", "var/task"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	return goBuild(ctx, arch, filepath.Join(root, "bin", "sh"), "./internal/samlocal/shell")
}
