package flags

// A Sealer encrypts the secrets of tokens that lists return, so that only holders of the key can read what is
// stored. The hash of the secret is bound to the ciphertext: it cannot be opened for another token.
type Sealer interface {
	Seal(secret, hash string) string
	// Open returns the secret. Its error names the missing key, or says that the ciphertext was altered.
	Open(sealed, hash string) (string, error)
}
