// Package ministack runs MiniStack, an emulator of AWS, for the test of a deployment. docs/operations/emulator.md says
// what it shows and what not.
package ministack
