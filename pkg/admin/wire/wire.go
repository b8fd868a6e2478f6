// Package wire contains the bodies of requests and responses that several areas of the API share. Bodies of one area are in that area's package.
// Values that are also stored, or part of events, are in pkg/shape.
package wire

// MaxBulk is how many flags, environments or strategies one request may list.
const MaxBulk = 100
