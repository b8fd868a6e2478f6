// Package follow is what the programs for Go share.
package follow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Flag is to be evaluated.
type Flag struct {
	Name string
	Type string // boolean, or the type of the payload of its variant: string, number or object
}

// A User is a context to evaluate flags for.
type User struct{ Name, UserID, Plan string }

// URL is the address of the server, without a path; Token is for its header Authorization; AppName is the name of the application.
var URL, Token, AppName = os.Getenv("GUIDON_URL"), os.Getenv("TOKEN"), os.Getenv("APP_NAME")

// Flags evaluates every flag for every user again and again, ROUNDS times if that is set. It prints the answers as one line of
// JSON whenever one of them changes, and returns when the standard input ends.
func Flags(evaluate func(Flag, User) string, every time.Duration) {
	var flags []Flag
	var users []User
	read("FLAGS", &flags)
	read("USERS", &users)
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		ended <- err
	}()
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("ROUNDS"), "0"))
	check(err)
	var printed string
	for round := 0; ; round++ {
		if round > 0 && round == rounds {
			check(<-ended)
			return
		}
		answers := map[string]string{}
		for _, user := range users {
			for _, flag := range flags {
				answers[user.Name+" "+flag.Name] = evaluate(flag, user)
			}
		}
		line, err := json.Marshal(answers)
		check(err)
		if string(line) != printed {
			fmt.Println(string(line))
			printed = string(line)
		}
		select {
		case <-ended:
			return
		case <-time.After(every):
		}
	}
}

// Answer returns the answer for a flag, with the name and the payload of its variant.
func Answer(enabled bool, variant ...string) string {
	state := "off"
	if enabled {
		state = "on"
	}
	return strings.TrimSpace(strings.Join(append([]string{state}, variant...), " "))
}

func read(variable string, into any) {
	check(json.Unmarshal([]byte(os.Getenv(variable)), into))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
