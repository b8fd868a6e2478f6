// Package usage is the part of the domain that counts how applications use flags. Like package flags, it does no I/O.
//
//	post.go         what a client reports in one request
//	sum.go          the evaluations of a flag in an hour or a day
//	cursor.go       how far posts were added to the sums
//	report.go, application.go    what reports say of an application and its instances
//	askedforall.go  when pages asked for all flags by OFREP
//	sdk.go          which SDKs are outdated
//
// Package ingest receives posts, and package aggregate adds them to the sums.
package usage
