// Command shell is the /bin/sh of the stand-in for AWS's base image: all that the SAM CLI has a shell do is to move its
// runtime interface emulator into place and to make it executable, and this can do just that.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "-c" {
		fail("this is no shell: it does sh -c 'mv … && chmod +x …' alone")
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
			fail("this is no shell, and does not know: " + command)
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
