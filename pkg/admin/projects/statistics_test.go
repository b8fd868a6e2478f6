package projects_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

func TestStatistics(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const path = "/api/admin/instance-admin/statistics"
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Create(t, "f", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"g"}`)
	s.Must(t, "POST", apitest.Users, `{"username":"ann","rootRole":3}`)
	custom := s.RoleOf(t, "root-custom", "CREATE_PROJECT")
	s.RoleOf(t, "root-custom", "")
	s.Must(t, "POST", apitest.ServiceAccounts, `{"username":"robot","name":"Robot","rootRole":`+custom+`}`)
	s.Must(t, "POST", apitest.Segments, `{"name":"s","constraints":[]}`)
	s.APIToken(t, `{"tokenName":"more","type":"frontend"}`)

	s.Check(t, apitest.Call{"counts", "GET", path, "", 200, `{"instanceId":"<any>","timestamp":"<time>","versionOSS":"<any>","versionEnterprise":"",` +
		`"users":2,"serviceAccounts":1,"apiTokens":{"admin":1,"client":1,"frontend":2},"featureToggles":2,"projects":2,"contextFields":"<any>",` +
		`"roles":7,"customRootRoles":2,"customRootRolesInUse":1,"groups":0,"environments":3,"segments":1,"strategies":"<any>","SAMLenabled":false,"OIDCenabled":false}`})
	first := apitest.Decode[struct{ InstanceID string }](t, s.Must(t, "GET", path, "").Body)
	if again := apitest.Decode[struct{ InstanceID string }](t, s.Must(t, "GET", path, "").Body); again != first || first.InstanceID == "" {
		t.Errorf("instanceId %q, then %q, want the same", first.InstanceID, again.InstanceID)
	}

	got := s.Must(t, "GET", path+"/csv", "")
	if kind := got.Header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
		t.Errorf("content type %q, want text/csv", kind)
	}
	rows, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %d rows in %s, want a header and one row", err, len(rows), got.Body)
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
