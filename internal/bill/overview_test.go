package bill

import "testing"

// TestOverviewUnits checks that the overview of a project with many flags takes as many units as that of one with few.
func TestOverviewUnits(t *testing.T) {
	d := deploy(t)
	const overview = "/api/admin/projects/default/overview"
	var few Units
	for i := range 300 {
		d.do("POST", features, newFlag(i))
		if i == 0 {
			d.do("GET", overview, "")
			few = d.units("GET", overview, "")
		}
	}
	many, list := d.units("GET", overview, ""), d.units("GET", features, "")
	if many != few || list.Read < few.Read+10 {
		t.Errorf("the overview of 300 flags takes %v units, that of one flag %v, and the list %v", many, few, list)
	}
}
