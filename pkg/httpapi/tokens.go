package httpapi

// Tokens serves API tokens, personal tokens and public signup tokens (contract: Tokens). No other group makes or reads secrets.
func Tokens() Group {
	return Group{Name: "tokens", Operations: []Operation{}}
}
