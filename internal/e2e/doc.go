// Package e2e tests Guidon from outside, as its users see it: the server as a process, its API over HTTP and with the
// client of Unleash's Terraform provider, the commands in the README and the task pages, and the data after the process
// was stopped or killed.
package e2e
