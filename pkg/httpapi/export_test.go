package httpapi

import "guidon/pkg/flags"

// For the tests of package httpapi_test, which may import packages that import this one.
var (
	Describe = describe
	SecretOf = Secret
)

// DecodesBody reports whether the operation takes a body.
func (op Operation) DecodesBody() bool { return op.Handle.decode != nil }

// DecodeBody decodes and checks a body as the operation does.
func (op Operation) DecodeBody(body []byte, limits flags.Limits) (any, error) {
	return op.Handle.decode(body, limits)
}
