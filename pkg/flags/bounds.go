package flags

// Fixed bounds of request fields, exported for the description of the interface. Lengths are in characters.
// Bounds that a deployment can set are in Limits.
const (
	MaxName        = maxName
	MinTag         = minTag
	MaxTag         = maxTag
	MaxSegmentName = maxSegmentName
	TotalWeight    = totalWeight
)

// NamePattern is the rule of CheckName, except for the length, as a regular expression that all regexp engines
// understand: name characters only, and not "." or "..".
const NamePattern = `^(\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.{3,})$`
