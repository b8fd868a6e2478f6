package evaluate

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A number is a decimal number. Most are compared as float64. IDs of 19 digits, and numbers that differ after the
// fifteenth digit, need more precision; they are compared with math/big, as in Unleash's Go SDK.
type number struct {
	float float64
	exact bool   // whether equal floats mean equal numbers
	text  string // if it is not exact
}

const (
	maxNumber   = 400 // bytes; a float64 written in full has about 330
	exactDigits = 15  // decimal digits that a float64 always keeps
)

// parseNumber parses a finite decimal number. strconv alone also accepts hexadecimal numbers, NaN and Inf.
func parseNumber(s string) (number, bool) {
	if s == "" || len(s) > maxNumber || !plainNumber(s) {
		return number{}, false
	}
	float, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(float, 0) { // an infinite one is out of range and a number nevertheless
		return number{}, false
	}
	n := number{float: float, exact: exactFloat(s, float)}
	if !n.exact {
		n.text = s
	}
	return n, true
}

func plainNumber(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && strings.IndexByte("+-.eE", c) < 0 {
			return false
		}
	}
	return true
}

// exactFloat reports whether no other number of at most fifteen digits has the same float.
func exactFloat(s string, float float64) bool {
	digits := 0
	for i := 0; i < len(s) && s[i] != 'e' && s[i] != 'E'; i++ {
		if c := s[i]; c >= '1' && c <= '9' || c == '0' && digits > 0 { // without leading zeros
			digits++
		}
	}
	if float == 0 {
		return digits == 0
	}
	size := math.Abs(float)
	return digits <= exactDigits && size > 1e-300 && size < 1e300
}

func (n number) compare(other number) int {
	if n.float != other.float || n.exact && other.exact {
		return cmp.Compare(n.float, other.float)
	}
	return n.big().Cmp(other.big())
}

func (n number) big() *big.Float {
	if n.exact {
		n.text = strconv.FormatFloat(n.float, 'g', -1, 64)
	}
	f, _, err := big.ParseFloat(n.text, 10, 0, big.ToNearestEven)
	if err != nil { // the exponent does not fit
		return big.NewFloat(n.float)
	}
	return f
}
