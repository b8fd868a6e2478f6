package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// An Operation is one endpoint of the API.
type Operation struct {
	Route      string             // as net/http writes it: "GET /api/admin/projects/{projectId}"
	Permission access.Permission  // that the caller must hold at the place that the path names; "" for a public operation
	Allow      func(tx *Tx) error // an additional check of the caller, before the body is read; nil for none
	Ahead      []flags.Key        // what to load with the caller's token, beside what the path names: a hint, see Tx.Load
	Status     int                // of success; 0 is 200
	MaxBody    int                // in bytes; 0 is DefaultMaxBody
	Handle     Handler            // what the operation does

	OpenFeature bool // errors have the form of OpenFeature's manifest, see manifestError
}

// A Handler is what an operation does: a plain function and the types of its request and response. Make one with Handle,
// HandleBody, HandleOptional, Do, DoBody, DoOptional, HandleManyBody, DoMany, DoManyBody, DoManyForeign or Serve.
type Handler struct {
	newPlace func() Place
	decode   func(body []byte, limits flags.Limits) (any, error) // nil without a body
	one      func(tx *Tx, at Place, in any) (any, error)
	many     func(m *Many, at Place, in any) (any, error)                 // in the place of one
	serve    func(ctx context.Context, r *http.Request) (Response, error) // in the place of all others, see Serve

	takes, answers any // the zero values of the types; nil for none
	optional       bool
}

// A Place is where an operation happens: what its path and query name. Places are pointers to structs. A field with a tag such as
// `path:"projectId"` gets that parameter of the path: it is a string, or an int64 for a parameter that must be a whole number.
type Place interface {
	// Keys are the aggregates that the path names. They are loaded with the caller's token, in one call.
	Keys() []flags.Key

	// Authorize checks that the caller holds a permission here.
	Authorize(tx *Tx, p access.Permission) error
}

// A parser is a Place that reads more of the request, such as the query, before anything is loaded. The error is sent once the caller
// is authorized and the body is checked.
type parser interface {
	Parse(r Request) error
}

// parse fills a place. An embedded place is filled in the same way.
func (r Request) parse(place Place) error {
	if err := r.fill(reflect.ValueOf(place).Elem()); err != nil {
		return err
	}
	if p, is := place.(parser); is {
		return p.Parse(r)
	}
	return nil
}

func (r Request) fill(place reflect.Value) error {
	for field, value := range place.Fields() {
		name, named := field.Tag.Lookup("path")
		switch {
		case named && field.Type.Kind() == reflect.Int64:
			n, err := r.PathInt(name)
			if err != nil {
				return err
			}
			value.SetInt(n)
		case named:
			value.SetString(r.Path(name))
		case field.Anonymous:
			if err := r.fill(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// A placeOfMore is a Place that knows more keys after the first load: they are loaded with the
// user of a personal token, or by a call of their own for a session.
type placeOfMore interface {
	MoreKeys(tx *Tx) []flags.Key
}

// A Request is what a Place reads.
type Request struct {
	http  *http.Request
	query Query
}

// Path is a parameter of the path.
func (r Request) Path(name string) string { return r.http.PathValue(name) }

// PathInt is a parameter of the path that must be an integer. Invalid when it is not.
func (r Request) PathInt(name string) (int64, error) {
	id, err := strconv.ParseInt(r.Path(name), 10, 32)
	if err != nil {
		return 0, flags.Errorf(flags.Invalid, "%s in the path must be a whole number, not %q", name, jsonbody.Shorten(r.Path(name)))
	}
	return id, nil
}

// Secret is the token of the request.
func (r Request) Secret() string { return Secret(r.http) }

// Query is the query's parameters.
func (r Request) Query() Query { return r.query }

// A placeOf is a pointer to the struct At that is a Place.
type placeOf[At any] interface {
	*At
	Place
}

// Handle is the handler of a function that takes no body and returns one.
func Handle[At any, P placeOf[At], Out any](f func(tx *Tx, at At) (Out, error)) Handler {
	h := handlerAt[At, P]()
	h.answers = *new(Out)
	h.one = func(tx *Tx, at Place, _ any) (any, error) { return f(tx, *at.(P)) }
	return h
}

// HandleBody is the handler of a function that takes a body and returns one.
func HandleBody[At any, P placeOf[At], In, Out any](f func(tx *Tx, at At, in In) (Out, error)) Handler {
	h := handlerAt[At, P]()
	h.takes, h.answers, h.decode = *new(In), *new(Out), decodeBody[In]
	h.one = func(tx *Tx, at Place, in any) (any, error) { return f(tx, *at.(P), in.(In)) }
	return h
}

// Do is the handler of a function that takes no body and returns none.
func Do[At any, P placeOf[At]](f func(tx *Tx, at At) error) Handler {
	h := handlerAt[At, P]()
	h.one = func(tx *Tx, at Place, _ any) (any, error) { return nil, f(tx, *at.(P)) }
	return h
}

// DoBody is the handler of a function that takes a body and returns none.
func DoBody[At any, P placeOf[At], In any](f func(tx *Tx, at At, in In) error) Handler {
	h := handlerAt[At, P]()
	h.takes, h.decode = *new(In), decodeBody[In]
	h.one = func(tx *Tx, at Place, in any) (any, error) { return nil, f(tx, *at.(P), in.(In)) }
	return h
}

// DoOptional is the handler of a function whose body may be absent or JSON white space, which is the zero value of In.
func DoOptional[At any, P placeOf[At], In any](f func(tx *Tx, at At, in In) error) Handler {
	return optional[In](DoBody[At, P](f))
}

// HandleOptional is the handler of a function whose body may be absent, too, and which returns one.
func HandleOptional[At any, P placeOf[At], In, Out any](f func(tx *Tx, at At, in In) (Out, error)) Handler {
	return optional[In](HandleBody[At, P](f))
}

func optional[In any](h Handler) Handler {
	h.optional = true
	h.decode = func(body []byte, limits flags.Limits) (any, error) {
		if len(bytes.Trim(body, " \t\r\n")) == 0 {
			return *new(In), nil
		}
		return decodeBody[In](body, limits)
	}
	return h
}

// DoManyForeign is the handler of a function that makes several transactions, whose body other programs write.
func DoManyForeign[At any, P placeOf[At], In any](f func(m *Many, at At, in In) error) Handler {
	h := DoManyBody[At, P](f)
	h.decode = func(body []byte, limits flags.Limits) (any, error) {
		var in In
		if err := jsonbody.DecodeForeign(body, &in); err != nil {
			return nil, err
		}
		return checked(in, limits)
	}
	return h
}

// DoMany is the handler of a function that makes several transactions, and takes no body.
func DoMany[At any, P placeOf[At]](f func(m *Many, at At) error) Handler {
	h := handlerAt[At, P]()
	h.many = func(m *Many, at Place, _ any) (any, error) { return nil, f(m, *at.(P)) }
	return h
}

// DoManyBody is the handler of a function that makes several transactions, and takes a body.
func DoManyBody[At any, P placeOf[At], In any](f func(m *Many, at At, in In) error) Handler {
	h := handlerAt[At, P]()
	h.takes, h.decode = *new(In), decodeBody[In]
	h.many = func(m *Many, at Place, in any) (any, error) { return nil, f(m, *at.(P), in.(In)) }
	return h
}

// HandleManyBody is the handler of a function that makes several transactions, takes a body and returns one.
func HandleManyBody[At any, P placeOf[At], In, Out any](f func(m *Many, at At, in In) (Out, error)) Handler {
	h := handlerAt[At, P]()
	h.takes, h.answers, h.decode = *new(In), *new(Out), decodeBody[In]
	h.many = func(m *Many, at Place, in any) (any, error) { return f(m, *at.(P), in.(In)) }
	return h
}

func handlerAt[At any, P placeOf[At]]() Handler {
	return Handler{newPlace: func() Place { return P(new(At)) }}
}

// A Checker is a body that can tell its own faults. They give a 400 even if something that the path names
// does not exist. Only loading, authenticating and authorizing come first, see begin.
type Checker interface {
	Check(limits flags.Limits, problems *flags.Problems)
}

func decodeBody[In any](body []byte, limits flags.Limits) (any, error) {
	var in In
	if err := jsonbody.DecodeStrict(body, &in); err != nil {
		return nil, err
	}
	return checked(in, limits)
}

func checked[In any](in In, limits flags.Limits) (any, error) {
	if body, ok := any(in).(Checker); ok {
		var problems flags.Problems
		body.Check(limits, &problems)
		if err := problems.Err(); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// A Shape is what an operation takes and returns, as zero values of the types: infra/openapi generates the description of
// the API from it.
type Shape struct {
	Takes    any  // nil without a body
	Optional bool // whether the body may be left out
	MaxBody  int  // in bytes
	Status   int  // of success
	Answers  any  // nil without a body
}

// Shape is what the operation takes and returns.
func (op Operation) Shape() Shape {
	h := op.Handle
	return Shape{Takes: h.takes, Optional: h.optional, MaxBody: op.maxBody(), Status: op.status(), Answers: h.answers}
}

func (op Operation) status() int { return cmp.Or(op.Status, http.StatusOK) }

func (op Operation) maxBody() int { return cmp.Or(op.MaxBody, DefaultMaxBody) }
