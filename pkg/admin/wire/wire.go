// Package wire has the bodies and answers that several areas of the administration interface share. Those that one area
// alone has stand beside its operations; values that are also stored or told by events are in pkg/shape.
package wire

// MaxBulk is how many flags, environments or strategies one request may list.
const MaxBulk = 100
