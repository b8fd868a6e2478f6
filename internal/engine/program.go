package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"guidon/internal/child"
)

// A program is an engine that was downloaded.
type program struct {
	name string
	// launch runs the engine, in memory if data is empty. If port is not empty, the engine serves HTTP there.
	launch func(data, port string, log io.Writer) (*instance, error)
}

// find returns the engine of a name, "" for the default, and downloads it if necessary.
func find(ctx context.Context, name string, log io.Writer) (program, error) {
	if filepath.IsAbs(name) {
		if _, err := exec.LookPath(name); err != nil {
			return program{}, fmt.Errorf("ENGINE is the path of a program that cannot be run: %w", err)
		}
		return dynoxideProgram(name), nil
	}
	switch name {
	case "", "dynoxide":
		binary, err := Dynoxide(ctx, runtime.GOOS, runtime.GOARCH, log)
		return dynoxideProgram(binary), err
	case "dynamodb-local":
		return findDynamoDBLocal(ctx, log)
	}
	return program{}, fmt.Errorf("ENGINE is %q: it must be dynoxide (the default), dynamodb-local, or the absolute path of a dynoxide program", name)
}

const dynoxideVersion = "1.2.1"

// dynoxidePlatforms lists the platforms that npm has the binary for, by GOOS/GOARCH.
var dynoxidePlatforms = map[string]string{
	"linux/amd64":   "linux-x64",
	"linux/arm64":   "linux-arm64",
	"darwin/amd64":  "darwin-x64",
	"darwin/arm64":  "darwin-arm64",
	"windows/amd64": "win32-x64",
}

// Dynoxide returns the path of the default engine's binary for a system, and downloads it if necessary. make sam-local runs
// the one for Linux in a container.
func Dynoxide(ctx context.Context, goos, goarch string, log io.Writer) (string, error) {
	local, err := LocalDir()
	if err != nil {
		return "", err
	}
	system := goos + "/" + goarch
	platform, ok := dynoxidePlatforms[system]
	if !ok {
		return "", fmt.Errorf("the embedded DynamoDB engine is not available for %s: "+
			"run another DynamoDB and set AWS_ENDPOINT_URL_DYNAMODB to its address", system)
	}
	dir := filepath.Join(local, "engine", "dynoxide-"+dynoxideVersion+"-"+platform)
	folder, err := npmPackage(ctx, dir, "@dynoxide/"+platform, dynoxideVersion, log)
	if err != nil {
		return "", fmt.Errorf("the embedded DynamoDB engine cannot be installed (to do without, set ENGINE to the path of a "+
			"dynoxide program, or AWS_ENDPOINT_URL_DYNAMODB to the address of another DynamoDB): %w", err)
	}
	binary := filepath.Join(folder, "dynoxide")
	if goos == "windows" {
		binary += ".exe"
	}
	return binary, nil
}

func dynoxideProgram(binary string) program {
	return program{
		name: "dynoxide",
		launch: func(data, port string, log io.Writer) (*instance, error) {
			args := []string{"mcp"}
			if port != "" {
				args = []string{"serve", "--port", port}
			}
			if data != "" {
				if err := createFile(data); err != nil {
					return nil, err
				}
				args = append(args, "--db-path", data)
			}
			if port != "" {
				return launchOnPort(exec.Command(binary, args...), port, log)
			}
			return launchOnPipes(exec.Command(binary, args...), log)
		},
	}
}

const dynamoDBLocalVersion = "2.6.0"

func findDynamoDBLocal(ctx context.Context, log io.Writer) (program, error) {
	local, err := LocalDir()
	if err != nil {
		return program{}, err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return program{}, fmt.Errorf("ENGINE=dynamodb-local needs Java 17 or newer on the PATH: %w", err)
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
		name: "DynamoDB Local",
		launch: func(data, port string, log io.Writer) (*instance, error) {
			if port == "" {
				var err error
				if port, err = child.FreePort(); err != nil {
					return nil, err
				}
			}
			args := []string{
				"-Djava.library.path=" + lib, "-cp", filepath.Join(lib, "*"),
				"com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
				"-port", port, "-disableTelemetry",
				"-cors", "https://no-page.invalid", // otherwise any web page may call it
				"-sharedDb", // otherwise each access key and region has its own tables
			}
			if data == "" {
				args = append(args, "-inMemory")
			} else {
				folder := data + javaFolder // it chooses the name of its file
				if err := os.MkdirAll(folder, 0o700); err != nil {
					return nil, err
				}
				args = append(args, "-dbPath", folder)
			}
			return launchOnPort(exec.Command(java, args...), port, log)
		},
	}, nil
}
