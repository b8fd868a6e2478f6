package dynamotest

import "strings"

// checkBodies sees that each event which says that it has a body has one of that length, and that there is no other.
func (a *audit) checkBodies() {
	for p, i := range a.items {
		if version, of := strings.CutPrefix(p.sk, "EVENT#"); of {
			if body := a.items[at{p.pk, "BODY#" + version}]; len(body.doc) != i.numbers["bodyBytes"] {
				a.fault("the event %s %s has a body of %d bytes, and says %d", p.pk, p.sk, len(body.doc), i.numbers["bodyBytes"])
			}
		}
		if version, of := strings.CutPrefix(p.sk, "BODY#"); of && a.items[at{p.pk, "EVENT#" + version}].id == "" {
			a.fault("%s %s is the body of an event that is not there", p.pk, p.sk)
		}
	}
}
