package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A program is an engine that was fetched.
type program struct {
	name string
	mark string // a word of its command line

	// launch runs it over a data file, in memory when that is empty.
	launch func(data string, log io.Writer) (*process, error)
}

// find fetches, if it is not there, the engine that is asked for; the empty name is the default.
func find(ctx context.Context, name, local string, log io.Writer) (program, error) {
	switch name {
	case "", "dynoxide":
		return findDynoxide(ctx, local, log)
	case "dynamodb-local":
		return findDynamoDBLocal(ctx, local, log)
	}
	return program{}, fmt.Errorf("ENGINE is %q: it must be dynoxide (the default) or dynamodb-local", name)
}

const dynoxideVersion = "1.2.1"

// dynoxidePlatforms are those that npm has the binary for, by GOOS/GOARCH.
var dynoxidePlatforms = map[string]string{
	"linux/amd64":   "linux-x64",
	"linux/arm64":   "linux-arm64",
	"darwin/amd64":  "darwin-x64",
	"darwin/arm64":  "darwin-arm64",
	"windows/amd64": "win32-x64",
}

// Dynoxide is the default engine's binary for a system, fetched if it is not there: the one for Linux runs in a container
// beside those of `sam local`. The log takes what is fetched.
func Dynoxide(ctx context.Context, goos, goarch string, log io.Writer) (string, error) {
	local, err := LocalDir()
	if err != nil {
		return "", err
	}
	return dynoxideBinary(ctx, goos, goarch, local, log)
}

func dynoxideBinary(ctx context.Context, goos, goarch, local string, log io.Writer) (string, error) {
	system := goos + "/" + goarch
	platform, ok := dynoxidePlatforms[system]
	if !ok {
		return "", fmt.Errorf("there is no embedded DynamoDB engine for %s: "+
			"run any DynamoDB yourself and name its address in AWS_ENDPOINT_URL_DYNAMODB", system)
	}
	dir := filepath.Join(local, "engine", "dynoxide-"+dynoxideVersion+"-"+platform)
	folder, err := npmPackage(ctx, dir, "@dynoxide/"+platform, dynoxideVersion, log)
	if err != nil {
		return "", fmt.Errorf("the embedded DynamoDB engine cannot be had; you can name the address of another "+
			"DynamoDB in AWS_ENDPOINT_URL_DYNAMODB instead: %w", err)
	}
	binary := filepath.Join(folder, "dynoxide")
	if goos == "windows" {
		binary += ".exe"
	}
	return binary, nil
}

func findDynoxide(ctx context.Context, local string, log io.Writer) (program, error) {
	binary, err := dynoxideBinary(ctx, runtime.GOOS, runtime.GOARCH, local, log)
	if err != nil {
		return program{}, err
	}
	return program{
		name: "dynoxide", mark: "dynoxide",
		launch: func(data string, log io.Writer) (*process, error) {
			args := []string{"mcp"}
			if data != "" {
				if err := createFile(data); err != nil {
					return nil, err
				}
				args = append(args, "--db-path", data)
			}
			return launchOnPipes(exec.Command(binary, args...), log)
		},
	}, nil
}

const dynamoDBLocalVersion = "2.6.0"

func findDynamoDBLocal(ctx context.Context, local string, log io.Writer) (program, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return program{}, fmt.Errorf("ENGINE=dynamodb-local needs java 17 or newer in the path: %w", err)
	}
	dir := filepath.Join(local, "engine", "dynamodb-local-"+dynamoDBLocalVersion)
	err = fetchOnce(dir, func(temp string) error {
		return mavenCopy(ctx, "com.amazonaws", "DynamoDBLocal", dynamoDBLocalVersion, temp, log)
	})
	if err != nil {
		return program{}, err
	}
	lib := filepath.Join(dir, "lib")
	return program{
		name: "DynamoDB Local", mark: "dynamodbv2.local.main.ServerRunner",
		launch: func(data string, log io.Writer) (*process, error) {
			port, err := freePort()
			if err != nil {
				return nil, err
			}
			args := []string{
				"-Djava.library.path=" + lib, "-cp", filepath.Join(lib, "*"),
				"com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
				"-port", port, "-disableTelemetry",
				"-cors", "https://no-page.invalid", // else every web page may call it
				"-sharedDb", // else each access key and region has tables of its own
			}
			if data == "" {
				args = append(args, "-inMemory")
			} else {
				folder := data + javaFolder // it names its file itself
				if err := os.MkdirAll(folder, 0o700); err != nil {
					return nil, err
				}
				args = append(args, "-dbPath", folder)
			}
			return launchOnPort(exec.Command(java, args...), port, log)
		},
	}, nil
}
