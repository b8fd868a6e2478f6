package flags

// A Sealer keeps the secrets of tokens that a list must return: what is stored is sealed, and only those who hold the
// key can open it. Both take the hash of the secret, to which what is sealed is bound: moved to another token, it
// does not open.
type Sealer interface {
	Seal(secret, hash string) string
	// Open is the secret again. Its error tells which key is missing, or that what was sealed has been altered.
	Open(sealed, hash string) (string, error)
}
