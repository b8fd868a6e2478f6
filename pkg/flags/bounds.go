package flags

// The fixed bounds of what callers may say, for descriptions of the interface. Lengths are in characters. What a
// deployment can set is in Limits.
const (
	MaxName        = maxName
	MinTag         = minTag
	MaxTag         = maxTag
	MaxSegmentName = maxSegmentName
	MaxUserName    = maxUserName
	MaxEmail       = maxEmail
	TotalWeight    = totalWeight
)

// NamePattern is what CheckName wants of a name, but for its length, as a regular expression that every sort of engine
// understands: name characters, and not "." or "..".
const NamePattern = `^(\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.{3,})$`
