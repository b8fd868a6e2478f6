// Command shell is /bin/sh in the minimal replacement of AWS's base image. It supports only what the SAM CLI needs: to move
// its runtime interface emulator and to make it executable.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "-c" {
		fail("this shell supports only: sh -c 'mv … && chmod +x …'")
	}
	for command := range strings.SplitSeq(os.Args[2], "&&") {
		words := strings.Fields(command)
		var err error
		switch {
		case len(words) == 3 && words[0] == "mv":
			err = os.Rename(words[1], words[2])
		case len(words) == 3 && words[0] == "chmod" && words[1] == "+x":
			err = os.Chmod(words[2], 0o755)
		default:
			fail("this shell does not support: " + command)
		}
		if err != nil {
			fail(err.Error())
		}
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
