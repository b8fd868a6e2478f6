package dynamo

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// Usage is stored compressed, because it costs by the KB. The first byte of a content says how.
const (
	plainContent    = 'j' // JSON
	deflatedContent = 'z' // deflated JSON
	maxContent      = 16 << 20
)

// A contentItem is an item of usage.
type contentItem struct {
	PK      string `dynamodbav:"pk"`
	SK      string `dynamodbav:"sk"`
	Content []byte `dynamodbav:"content"`
	Size    int    `dynamodbav:"size,omitempty"` // of the content before it was compressed
	Batch   int64  `dynamodbav:"last,omitempty"` // of a sum: the last batch that was added
	TTL     int64  `dynamodbav:"ttl"`
}

// pack encodes a document. size is its size before it was compressed.
func pack(document any) (content []byte, size int, err error) {
	plain, err := json.Marshal(document, json.Deterministic(true))
	if err != nil {
		return nil, 0, err
	}
	out := bytes.NewBuffer([]byte{deflatedContent})
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil || out.Len() > len(plain) {
		return append([]byte{plainContent}, plain...), len(plain), err
	}
	return out.Bytes(), len(plain), nil
}

func unpack(content []byte, document any) error {
	if len(content) == 0 {
		return io.ErrUnexpectedEOF
	}
	switch content[0] {
	case plainContent:
		return json.Unmarshal(content[1:], document)
	case deflatedContent:
		r := flate.NewReader(bytes.NewReader(content[1:]))
		return json.UnmarshalRead(io.LimitReader(r, maxContent), document)
	}
	return fmt.Errorf("dynamo: the content is of an unknown kind %q", content[0])
}

// How long posts and sums are kept.
const (
	postTTL = usage.PostTTL
	hourTTL = 7 * 24 * time.Hour
	dayTTL  = 90 * 24 * time.Hour
)

const (
	postPrefix     = "POST#"
	usagePartition = "USAGE"
	sumPrefix      = "USAGE#"
	postShards     = 8
)

// postKey is where a post is stored: it depends on nothing but its time and ID, so that storing it again changes nothing.
func postKey(at time.Time, id uuid.UUID) itemKey {
	return itemKey{postPartition(at, int(id[15])%postShards), fmt.Sprintf("%s#%s", postSortKey(at), id)}
}

func postPartition(at time.Time, shard int) string {
	return postPrefix + formatPeriod(at) + "#" + strconv.Itoa(shard)
}

func formatPeriod(at time.Time) string {
	return at.UTC().Truncate(usage.Period).Format("2006-01-02T15:04")
}

func postSortKey(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

// parsePostSortKey returns the time and ID of a post.
func parsePostSortKey(sk string) (at time.Time, id uuid.UUID, err error) {
	millis, text, _ := strings.Cut(sk, "#")
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return at, id, err
	}
	id, err = uuid.Parse(text)
	return time.UnixMilli(n).UTC(), id, err
}

// A postDocument is the stored form of a post. Its field names are short because it is the item that is written most often.
type postDocument struct {
	Format    int                  `json:"f"`
	Token     string               `json:"t"`
	Projects  []string             `json:"p,omitempty"`
	Instances []usage.PostInstance `json:"i,omitempty"`
	Counts    []countsDocument     `json:"c,omitempty"`
	Uses      map[string]int64     `json:"u,omitempty"` // in Unix milliseconds
}

// A countsDocument is the counts of an application in an environment.
type countsDocument struct {
	Application string          `json:"a"`
	Environment string          `json:"e"`
	Counts      []countDocument `json:"c"`
}

type countDocument struct {
	Feature  string           `json:"f"`
	Yes      int64            `json:"y,omitzero"`
	No       int64            `json:"n,omitzero"`
	Variants map[string]int64 `json:"v,omitempty"`
}

func storePost(p *usage.Post) postDocument {
	doc := postDocument{
		Format: format, Token: p.TokenHash, Projects: p.Projects, Instances: p.Instances, Counts: storeCounts(p.Counts),
	}
	for hash, at := range p.Uses {
		if doc.Uses == nil {
			doc.Uses = make(map[string]int64, len(p.Uses))
		}
		doc.Uses[hash] = at.UnixMilli()
	}
	return doc
}

func (doc postDocument) post(at time.Time, id string) *usage.Post {
	p := &usage.Post{
		ID: id, At: at, TokenHash: doc.Token, Projects: doc.Projects, Instances: doc.Instances, Counts: loadCounts(doc.Counts),
	}
	for hash, at := range doc.Uses {
		if p.Uses == nil {
			p.Uses = make(map[string]time.Time, len(doc.Uses))
		}
		p.Uses[hash] = time.UnixMilli(at).UTC()
	}
	return p
}

// storeCounts groups counts that follow each other.
func storeCounts(counts []usage.Count) (list []countsDocument) {
	for _, c := range counts {
		last := len(list) - 1
		if last < 0 || list[last].Application != c.Application || list[last].Environment != c.Environment {
			list = append(list, countsDocument{Application: c.Application, Environment: c.Environment})
			last++
		}
		list[last].Counts = append(list[last].Counts, countDocument{c.Feature, c.Yes, c.No, c.Variants})
	}
	return list
}

func loadCounts(list []countsDocument) (counts []usage.Count) {
	for _, group := range list {
		for _, c := range group.Counts {
			counts = append(counts, usage.Count{
				Feature: c.Feature, Application: group.Application, Environment: group.Environment, Yes: c.Yes, No: c.No, Variants: c.Variants,
			})
		}
	}
	return counts
}

// A sumDocument is the stored form of a sum. The flag is in the key.
type sumDocument struct {
	Format int        `json:"f"`
	Counts []sumCount `json:"c"`
}

type sumCount struct {
	Application string           `json:"a"`
	Environment string           `json:"e"`
	Yes         int64            `json:"y,omitzero"`
	No          int64            `json:"n,omitzero"`
	Variants    map[string]int64 `json:"v,omitempty"`
}

func storeSum(sum *usage.Sum) sumDocument {
	return sumDocument{format, convert(sum.Counts, func(c usage.Count) sumCount {
		return sumCount{c.Application, c.Environment, c.Yes, c.No, c.Variants}
	})}
}

// sumKey is where a sum is stored.
func sumKey(feature string, unit usage.Unit, start time.Time) itemKey {
	return itemKey{sumPrefix + feature, sumSortKey(unit, start)}
}

const (
	hourLayout = "HOUR#2006-01-02T15"
	dayLayout  = "DAY#2006-01-02"
)

func sumLayout(unit usage.Unit) (layout string, ttl time.Duration) {
	if unit == usage.Hour {
		return hourLayout, hourTTL
	}
	return dayLayout, dayTTL
}

func sumSortKey(unit usage.Unit, start time.Time) string {
	layout, _ := sumLayout(unit)
	return start.UTC().Format(layout)
}

// sum decodes a sum.
func (c contentItem) sum() (usage.Sum, error) {
	sum := usage.Sum{Feature: strings.TrimPrefix(c.PK, sumPrefix), Unit: usage.Day, Batch: c.Batch}
	if strings.HasPrefix(c.SK, "HOUR#") {
		sum.Unit = usage.Hour
	}
	var doc sumDocument
	if err := unpack(c.Content, &doc); err != nil {
		return sum, err
	}
	sum.Counts = convert(doc.Counts, func(c sumCount) usage.Count {
		return usage.Count{Feature: sum.Feature, Application: c.Application, Environment: c.Environment, Yes: c.Yes, No: c.No, Variants: c.Variants}
	})
	layout, _ := sumLayout(sum.Unit)
	var err error
	sum.Start, err = time.Parse(layout, c.SK)
	return sum, err
}

// usageCursorEntity is the cursor. It is written by AdvanceUsage, and only loaded as an aggregate.
var usageCursorEntity = entity{
	name:  usage.EntityCursor,
	key:   func(string) itemKey { return usageCursorKey },
	title: func(string) string { return "the cursor of the usage" },
	codec: codec{encode: cannotEncode, decode: func(e envelope) (flags.Aggregate, error) {
		var doc cursorDocument
		err := decode(e.Document, &doc)
		return &usage.Cursor{Next: e.Version, From: doc.From, Looked: doc.Looked}, err
	}},
}

var usageCursorKey = itemKey{usagePartition, "CURSOR"}

type cursorDocument struct {
	Format int       `json:"format"`
	From   time.Time `json:"from"`
	Looked time.Time `json:"looked"`
}
