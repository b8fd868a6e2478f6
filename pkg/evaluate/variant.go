package evaluate

// variants is a compiled list of variants.
type variants struct {
	list       []Variant
	overrides  [][]override // by variant; nil if no variant has any
	total      uint32       // sum of the weights
	stickiness stickiness
	group      string
}

type override struct {
	field  field
	values valueSet
}

// maxWeight bounds a weight so that the sum of many does not overflow. The administration allows 1,000.
const maxWeight = 1_000_000

// compileVariants compiles a list of variants. inherited is the stickiness of the strategy that has them, if any.
func compileVariants(list []Variant, group, inherited string) *variants {
	if len(list) == 0 {
		return nil
	}
	v := &variants{list: list, group: group}
	sticky := list[0].Stickiness
	if sticky == "" {
		sticky = inherited
	}
	v.stickiness = newStickiness(sticky)
	for i := range list {
		v.total += weight(&list[i])
		if len(list[i].Overrides) > 0 && v.overrides == nil {
			v.overrides = make([][]override, len(list))
		}
		for _, o := range list[i].Overrides {
			v.overrides[i] = append(v.overrides[i], override{newField(o.ContextName), newValueSet(o.Values)})
		}
	}
	return v
}

func weight(v *Variant) uint32 { return uint32(min(max(v.Weight, 0), maxWeight)) }

// choose returns the variant for a context, or nil if there is none.
func (v *variants) choose(c *Context) *Variant {
	if v == nil {
		return nil
	}
	for i, overrides := range v.overrides {
		for _, o := range overrides {
			if o.values.has(o.field.of(c)) {
				return &v.list[i]
			}
		}
	}
	if v.total == 0 {
		return nil
	}
	target := v.bucket(c)
	reached := uint32(0)
	for i := range v.list {
		if reached += weight(&v.list[i]); reached >= target {
			return &v.list[i]
		}
	}
	return nil
}

// bucket returns a number from 1 to the sum of the weights. A user without an ID gets a random one. Unlike in rollouts,
// the default stickiness falls back to the remote address.
func (v *variants) bucket(c *Context) uint32 {
	id := v.stickiness.id(c)
	if id == "" && v.stickiness.kind == defaultStickiness {
		id = field{kind: remoteAddressField}.of(c)
	}
	if id == "" {
		return c.random(v.total) + 1
	}
	return bucket(v.group, id, variantSeed, v.total)
}
