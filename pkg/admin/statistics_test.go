package admin_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

func TestStatistics(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const path = "/api/admin/instance-admin/statistics"
	s.must(t, "POST", projects, `{"id":"shop"}`)
	s.create(t, "f", "archived")
	s.must(t, "DELETE", features+"/archived", "")
	s.must(t, "POST", projects+"/shop/features", `{"name":"g"}`)
	s.must(t, "POST", people, `{"username":"ann","rootRole":3}`)
	custom := s.roleOf(t, "root-custom", "CREATE_PROJECT")
	s.roleOf(t, "root-custom", "")
	s.must(t, "POST", programs, `{"username":"robot","name":"Robot","rootRole":`+custom+`}`)
	s.must(t, "POST", allSegments, `{"name":"s","constraints":[]}`)
	s.apiToken(t, `{"tokenName":"more","type":"frontend"}`)

	s.check(t, call{"counts", "GET", path, "", 200, `{"instanceId":"<any>","timestamp":"<time>","versionOSS":"<any>","versionEnterprise":"",` +
		`"users":2,"serviceAccounts":1,"apiTokens":{"admin":1,"client":1,"frontend":2},"featureToggles":2,"projects":2,"contextFields":"<any>",` +
		`"roles":7,"customRootRoles":2,"customRootRolesInUse":1,"groups":0,"environments":3,"segments":1,"strategies":"<any>","SAMLenabled":false,"OIDCenabled":false}`})
	s.check(t, call{"a viewer", "GET", path, "", 403, anything}, as(s.account(t, "3", nil)))
	s.check(t, call{"a token for SDKs", "GET", path, "", 403, anything}, as(dynamotest.ClientToken))
	first := decoded[struct{ InstanceID string }](t, s.must(t, "GET", path, "").body)
	if again := decoded[struct{ InstanceID string }](t, s.must(t, "GET", path, "").body); again != first || first.InstanceID == "" {
		t.Errorf("instanceId %q, then %q, want the same", first.InstanceID, again.InstanceID)
	}

	got := s.must(t, "GET", path+"/csv", "")
	if kind := got.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
		t.Errorf("content type %q, want text/csv", kind)
	}
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %d rows in %s, want a header and one row", err, len(rows), got.body)
	}
	values := map[string]string{}
	for i, name := range rows[0] {
		values[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"instanceId": first.InstanceID, "featureToggles": "2", "SAMLenabled": "false", "apiTokens": `{"admin":1,"client":1,"frontend":2}`,
	} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
}
