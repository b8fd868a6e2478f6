// Package e2e tests Guidon from outside, as the people who use it see it: the gateway as a process of its own, its
// interface over HTTP and by the client of Unleash's Terraform provider, the README and the pages of tasks word for word,
// and what becomes of the data when the process is stopped or killed.
package e2e
