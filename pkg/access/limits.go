package access

// The largest numbers of entries in lists that are returned whole. Each list is also limited in bytes, see wire.CheckListSize.
const (
	MaxUsers        = 5_000 // includes service accounts
	MaxTokens       = 4_000
	MaxSignupTokens = 500
)
