package matrix

// constraints are the constraints: each operator with each value or list. All of them are also inverted. The first of each operator
// also ignores case, or all of them if the operator can.
var constraints = []row{
	{operators: "IN NOT_IN", field: property, lists: [][]string{
		{"a", "gold"}, {" abc "}, {"é"}, {"1.0"}, {`a"b`, `a\b`}, {"a,b", "\u00a0"}, {"\ufffd", "İ"},
		{"0", "1", "2", "3", "4", "5", "6", "7", "8", "ß", "😀"}, // more than a short list
	}},
	{operators: "IN", field: property, lists: [][]string{{`C:\`}, {" "}, {"a\nb"}}},
	{operators: "IN", field: "userId", lists: [][]string{{"ας", "😀"}}},
	{operators: "STR_CONTAINS STR_STARTS_WITH STR_ENDS_WITH", field: property, ignoresCase: true, lists: [][]string{
		{"ß"}, {"ẞ"}, {"ss"}, {"i̇"}, {"İ"}, {"i"}, {"I"}, {"ı"}, {"σ"}, {"ς"}, {"Σ"}, {"ΑΣ"}, {"é"}, {"E\u0301"}, {"k"}, {"\u212a", "Å"}, {"ǆ"}, {"𐐀"}, {"𞤀", "Ა"}, {"Ж"}, {" a"}, {`"`}, {"\u0301", "."}, {"\u00a0"}, {"Ω"},
	}},
	{operators: "REGEX", field: property, ignoresCase: true, values: []string{
		".", "^.$", "^..$", "a*", "^$", "^a*$", `^\w+$`, `\w`, `\W`, `^\W$`, `\d`, `^\d+$`, `^\D+$`, `\s`, `^\s`, `^\S+$`, `\bb`, `\Bb`, `^[a-z]+$`, `^[[:alpha:]]+$`, `[^a-z]`, `^\pL+$`, `^\p{Greek}+$`, `^\p{Lu}+$`, `\PL`, `^[\x{370}-\x{3ff}]+$`,
		"^ß$", "^ss$", "^ς$", "^Σ$", "^k$", "^s$", "^i$", "^İ$", "^ǆ$", "^å$", "^é$", "^ω$", "^𐐨$", "^ᾼ$", "^ﬁ$", "a$", "a.b", "(?s)a.b", "(?m)^b$", "(?i)^abc$", "(?i:A)bc", `"`, `a\\b`, `a\.|\+`, `\x{1F600}`, `\x41`, "^(?P<x>a)b?", `^[\w.]+$`, `^[\d٣]+$`, `\AA\z`, "a{2,3}|1{1,2}$", "(a|b)+?c", `^\Qa\E`, "^[^\\s]+$", `^\t$`, `a{`, "[]a]",
	}},
	{operators: "IN_CIDR", field: property, lists: [][]string{
		{"10.0.0.0/8"}, {"10.0.0.1"}, {"10.0.0.5/8"}, {"0.0.0.0/0"}, {"::/0"}, {"::1"}, {"2001:db8::/32"}, {"2001:DB8:0:0::1"}, {"::ffff:10.0.0.0/104"}, {"::ffff:10.0.0.1"}, {"::ffff:0:0/96"}, {"::ffff:a00:1/128"}, {"::ffff:0:0/90"}, {"fe80::/10"}, {"fe80::1"}, {"::/96"}, {"192.168.0.0/16", "10.0.0.1/32", "2001:db8::1/128"}, {"64:ff9b::/96"},
	}},
	{operators: "IN_CIDR", field: "remoteAddress", lists: [][]string{{"10.0.0.0/8", "2001:db8::/32"}}},
	{operators: "NUM_EQ NUM_GT NUM_GTE NUM_LT NUM_LTE", field: property, values: []string{
		"0", "-1", "12.5", "1e3", "0.3", "9007199254740992", "1234567890123456789",
	}},
	{operators: "NUM_EQ NUM_LT", field: property, values: []string{"1.0000000000000002", "1e-300", "9007199254740993", "18446744073709551616", "1e308", "1e21", "-9007199254740993", "0.1", "5e-324"}},
	{operators: "DATE_AFTER DATE_BEFORE", field: property, values: []string{"2026-01-31T00:00:00.000Z", "1970-01-01T00:00:00.000Z"}},
	{operators: "DATE_AFTER DATE_BEFORE", field: "currentTime", values: []string{"2026-01-31T00:00:00.000Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2016-12-31T23:59:59.999Z"}},
	{operators: "SEMVER_EQ SEMVER_GT SEMVER_GTE SEMVER_LT SEMVER_LTE", field: property, values: []string{
		"1.2.3", "1.2.3-alpha.2", "1.2.3+build", "9007199254740991.0.0", "18446744073709551615.0.0", "1.2.3-18446744073709551615",
	}},
}

type parameters map[string]string

func rollout(percentage, stickiness, group string) parameters {
	return parameters{"rollout": percentage, "stickiness": stickiness, "groupId": group}
}

// strategies are the strategies. Rollouts do not depend on chance.
var strategies = []struct {
	name string
	parameters
	odd bool
}{
	{"default", parameters{}, false},
	{"userWithId", parameters{"userIds": "a, gold,ας"}, false},
	{"userWithId", parameters{"userIds": " a ,\u00a0gold\u00a0,\u3000ß,\u0085a\u0085,\ufeffa"}, false},
	{"userWithId", parameters{"userIds": "b,\ta\t,\nA\n,a\u200b,"}, false},
	{"userWithId", parameters{"userIds": `a"b,a\b,"`}, false},
	{"userWithId", parameters{"userIds": ""}, false},
	{"userWithId", parameters{}, false},
	{"remoteAddress", parameters{"IPs": "10.0.0.0/8, 2001:db8::/32"}, false},
	{"remoteAddress", parameters{"IPs": "::1,10.0.0.1, 192.168.0.1 ,2001:DB8:0::1"}, false},
	{"remoteAddress", parameters{"IPs": "::ffff:10.0.0.0/104,::ffff:10.0.0.1"}, false},
	{"remoteAddress", parameters{"IPs": "localhost,10.0.0.0/33,,010.0.0.1,10.0.0.1/,fe80::1%eth0"}, false},
	{"remoteAddress", parameters{"IPs": "11.0.0.0/255.0.0.0"}, false},
	{"remoteAddress", parameters{"IPs": "10.0.0.0/08"}, false},
	{"remoteAddress", parameters{"IPs": "10.0.0.0/+8"}, false},
	{"remoteAddress", parameters{"IPs": ""}, false},
	{"remoteAddress", parameters{}, false},
	{"applicationHostname", parameters{"hostNames": "web-ας.example"}, false},
	{"applicationHostname", parameters{"hostNames": "WEB-ΑΣ.EXAMPLE"}, false},
	{"applicationHostname", parameters{"hostNames": "other,\u00a0Web-Ασ.Example"}, false},
	{"applicationHostname", parameters{"hostNames": "other, Web-ΑΣ.Example,x"}, false},
	{"applicationHostname", parameters{"hostNames": ""}, false},
	{"applicationHostname", parameters{}, false},
	{"flexibleRollout", rollout("0", "userId", "g"), false},
	{"flexibleRollout", rollout("1", "userId", "g"), false},
	{"flexibleRollout", rollout("50", "userId", "g"), false},
	{"flexibleRollout", rollout("50", "value", "Größe"), false},
	{"flexibleRollout", rollout("50", "default", "日本 😀"), false},
	{"flexibleRollout", rollout("50", "sessionId", "ασ"), false},
	{"flexibleRollout", rollout("30", "value", "e\u0301"), false},
	{"flexibleRollout", rollout("70", "value", `a\b`), false},
	{"flexibleRollout", rollout("50", "value", `a\`), false},
	{"flexibleRollout", rollout("99", "remoteAddress", "g"), false},
	{"flexibleRollout", rollout("100", "userId", "g"), false},
	{"flexibleRollout", rollout("100", "random", "g"), false},
	{"flexibleRollout", rollout("100", "default", ""), true},
	{"flexibleRollout", rollout("50", "userId", ""), true},
	{"flexibleRollout", rollout("100", "", "g"), true},
	{"flexibleRollout", rollout("50", "unknown", "g"), false},
	{"flexibleRollout", parameters{"rollout": "50", "stickiness": "userId"}, true},
	{"flexibleRollout", parameters{"rollout": "100"}, true},
	{"flexibleRollout", parameters{"rollout": "50", "groupId": "g"}, true},
	{"flexibleRollout", parameters{"stickiness": "userId", "groupId": "g"}, true},
	{"flexibleRollout", rollout("50.0", "userId", "g"), true},
	{"flexibleRollout", rollout("50.5", "userId", "g"), true},
	{"flexibleRollout", rollout("0.5", "userId", "g"), true},
	{"flexibleRollout", rollout(" 50", "userId", "g"), true},
	{"flexibleRollout", rollout("50 ", "userId", "g"), true},
	{"flexibleRollout", rollout("+50", "userId", "g"), true},
	{"flexibleRollout", rollout("-50", "userId", "g"), true},
	{"flexibleRollout", rollout("050", "userId", "g"), true},
	{"flexibleRollout", rollout("5e1", "userId", "g"), true},
	{"flexibleRollout", rollout("0x32", "userId", "g"), true},
	{"flexibleRollout", rollout("50%", "userId", "g"), true},
	{"flexibleRollout", rollout("", "userId", "g"), true},
	{"flexibleRollout", rollout("101", "userId", "g"), true},
	{"flexibleRollout", rollout("1000000", "userId", "g"), true},
	{"flexibleRollout", rollout("Infinity", "userId", "g"), true},
	{"flexibleRollout", rollout("NaN", "userId", "g"), true},
	{"flexibleRollout", rollout("٥٠", "userId", "g"), true},
	{"flexibleRollout", rollout("all", "userId", "g"), true},
	{"gradualRolloutUserId", parameters{"percentage": "50", "groupId": "Größe"}, false},
	{"gradualRolloutUserId", parameters{"percentage": "50.5", "groupId": "g"}, true},
	{"gradualRolloutUserId", parameters{"percentage": "50"}, true},
	{"gradualRolloutUserId", parameters{"percentage": "100", "groupId": ""}, true},
	{"gradualRolloutSessionId", parameters{"percentage": "50", "groupId": "ασ"}, false},
	{"gradualRolloutSessionId", parameters{"percentage": "060", "groupId": "g"}, true},
	{"gradualRolloutRandom", parameters{"percentage": "0"}, false},
	{"gradualRolloutRandom", parameters{"percentage": "100"}, false},
	{"gradualRolloutRandom", parameters{"percentage": "all"}, true},
	{"custom", parameters{"a": "b"}, false},
}
