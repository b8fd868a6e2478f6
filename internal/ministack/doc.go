// Package ministack runs MiniStack, an emulator of AWS, for the deployment test. docs/operations/emulator.md lists what the
// emulator does not test.
package ministack
