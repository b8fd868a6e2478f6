//go:build deploy && linux

package edge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"guidon/internal/stage"
	"guidon/pkg/answers"
	"guidon/pkg/awsconfig"
	"guidon/pkg/published"
	"guidon/pkg/published/bucket"
	"guidon/pkg/serving"
)

// newBuckets starts an emulator of AWS with buckets. The environment of the test leads to it.
func newBuckets(t *testing.T, names ...string) (aws.Config, *s3.Client) {
	t.Helper()
	s := &stage.Stage{Dir: t.TempDir()}
	if err := s.Emulate(t.Context(), os.Getenv("MINISTACK")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Emulator.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, variable := range s.Env {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, value)
		}
	}
	cfg := awsconfig.FromEnvironment("S3", patience)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	for _, name := range names {
		if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{
			Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(cfg.Region)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	return cfg, client
}

// empty deletes a bucket with everything in it.
func empty(t *testing.T, client *s3.Client, name string) {
	t.Helper()
	list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range list.Contents {
		if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: object.Key}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
}

// TestDeletedEnvironment checks that the tokens of a deleted environment end, also where Guidon itself is not an upstream.
func TestDeletedEnvironment(t *testing.T) {
	cfg, _ := newBuckets(t, "deleted")
	g := newGuidon(t)
	g.resetFeed(time.Now(), "00000001")
	g.do("POST", "/api/admin/environments", `{"name": "review", "type": "test"}`)
	g.do("POST", "/api/admin/projects/default/environments", `{"environment": "review"}`)
	g.flag("a")
	stays, ends := g.token("client", "default", "development"), g.token("client", "default", "review")
	b, err := bucket.Open(cfg, "s3://deleted/stage")
	if err != nil {
		t.Fatal(err)
	}
	publish := g.publisher(b)
	publish()
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": "s3://deleted/stage", "TOKENS": stays})
	e.ask("GET", "/api/client/features", ends, "").want(t, 200)

	g.do("DELETE", "/api/admin/environments/review", "")
	g.publisher(b)() // as a function that has started since then
	await(t, "the token of the deleted environment", 401, func() int { return e.ask("GET", "/api/client/features", ends, "").status })
	newEdge(t, "edge", map[string]string{"UPSTREAM_URL": "s3://deleted/stage", "TOKENS": stays}).
		ask("GET", "/api/client/features", ends, "").want(t, 401)
	e.ask("GET", "/api/client/features", stays, "").want(t, 200)
}

// TestLostRegion removes the origin and the first bucket. An Edge that runs goes on, and one that starts then serves all flags.
func TestLostRegion(t *testing.T) {
	cfg, client := newBuckets(t, "near", "far")
	g := newGuidon(t)
	g.resetFeed(time.Now(), "00000001")
	near, far := "s3://near/stage", "s3://far/stage?region="+cfg.Region
	var places []serving.Place
	for _, address := range []string{near, far} {
		b, err := bucket.Open(cfg, address)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, b)
	}
	publish := g.publisher(places...)
	want := ""
	for i := range 20 {
		name := fmt.Sprintf("flag-%02d", i)
		g.flag(name)
		want += name + " "
	}
	want = strings.TrimSpace(want)
	all, application, browser := g.token("client", "*", "development"), g.token("client", "default", "development"), g.token("frontend", "default", "development")
	publish()
	settings := map[string]string{"UPSTREAM_URL": g.URL + "," + near + "," + far, "TOKENS": all}
	runs := newEdge(t, "edge", settings)
	runs.awaitOn(application, want)

	g.CloseClientConnections()
	g.Server.Close()
	empty(t, client, "near")

	starts := newEdge(t, "edge", settings)
	starts.awaitReady()
	for _, e := range []*instance{runs, starts} {
		e.awaitOn(application, want)
		e.ask("GET", "/api/frontend?userId=1", browser, "").want(t, 200, "flag-19")
	}
	starts.ask("GET", "/api/client/features", "*:development.0123456789abcdef", "").want(t, 401)

	hash := hashOf(application)
	list := fmt.Sprintf(`{"tokens": ["%x"]}`, hash)
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("far"), Key: aws.String("stage/revoked.json"), Body: strings.NewReader(list)}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*instance{runs, starts} {
		await(t, "the revoked token", 401, func() int { return e.ask("GET", "/api/client/features", application, "").status })
	}
	starts.awaitOn(all, want)
}

// awaitReady waits until the Edge has flags.
func (i *instance) awaitReady() {
	i.t.Helper()
	await(i.t, "GET /ready", 200, func() int { return i.ask("GET", "/ready", "", "").status })
}

// TestPublished publishes states in a bucket of the emulator of AWS, and reads them.
func TestPublished(t *testing.T) {
	ctx := t.Context()
	cfg, client := newBuckets(t, "states")
	b, err := bucket.Open(cfg, "s3://states/stage")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now().UTC().Round(0)

	// publish publishes a state with one flag.
	publish := func(t *testing.T, epochAt time.Time, number int64, flag string, at time.Time) bool {
		t.Helper()
		d := published.Document{
			Environment: "production", Features: []answers.ClientFeature{{Name: flag}},
			Tokens: []published.Token{{Hash: "ab", Type: "client", Projects: []string{"*"}}},
		}
		content, hash, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		written, err := b.Publish(ctx, published.Head{
			Format: published.Format, Environment: "production", Epoch: "e" + fmt.Sprint(epochAt.Unix()), EpochAt: epochAt, Number: number, Hash: hash, WrittenAt: at,
		}, content)
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	check := func(t *testing.T, number int64, flag string) published.Head {
		t.Helper()
		head, tag, err := published.ReadHead(ctx, b, "production", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := published.ReadHead(ctx, b, "production", tag); !errors.Is(err, published.ErrSame) {
			t.Errorf("the same head again: %v; want that it is the same", err)
		}
		d, err := published.ReadDocument(ctx, b, head)
		if err != nil {
			t.Fatal(err)
		}
		if head.Number != number || len(d.Features) != 1 || d.Features[0].Name != flag || len(d.Tokens) != 1 {
			t.Errorf("number %d and %+v, want %d and the flag %s", head.Number, d, number, flag)
		}
		return head
	}
	documents := func(t *testing.T) int {
		t.Helper()
		out, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("states"), Prefix: aws.String("stage/production/documents/")})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Contents)
	}

	if _, _, err := published.ReadHead(ctx, b, "production", ""); !errors.Is(err, published.ErrAbsent) {
		t.Errorf("before the first state: %v, want ErrAbsent", err)
	}
	for _, step := range []struct {
		name          string
		epochAt       time.Time
		number        int64
		flag          string
		at            time.Time
		written       bool
		wantNumber    int64
		wantFlag      string
		wantDocuments int
	}{
		{"the first state", time.Time{}, 5, "a", start, true, 5, "a", 1},
		{"a change", time.Time{}, 6, "b", start, true, 6, "b", 2},
		{"an older state", time.Time{}, 5, "a", start, false, 6, "b", 2},
		{"the same state", time.Time{}, 6, "b", start.Add(9 * time.Minute), false, 6, "b", 2},
		{"only other environments changed", time.Time{}, 8, "b", start, false, 6, "b", 2},
		{"the same content after ten minutes", time.Time{}, 8, "b", start.Add(10 * time.Minute), true, 8, "b", 2},
		{"back to the first content, later", time.Time{}, 9, "a", start.Add(time.Hour), true, 9, "a", 1},
		{"a restore, which begins a later epoch", start, 2, "c", start.Add(time.Hour), true, 2, "c", 1},
		{"the epoch before the restore", time.Time{}, 10, "d", start.Add(2 * time.Hour), false, 2, "c", 1},
		{"the same content in another epoch", start.Add(time.Minute), 1, "c", start.Add(time.Hour), true, 1, "c", 1},
	} {
		t.Run(step.name, func(t *testing.T) {
			if got := publish(t, step.epochAt, step.number, step.flag, step.at); got != step.written {
				t.Errorf("written %v, want %v", got, step.written)
			}
			check(t, step.wantNumber, step.wantFlag)
			if got := documents(t); got != step.wantDocuments {
				t.Errorf("%d documents, want %d", got, step.wantDocuments)
			}
		})
	}

	t.Run("several writers", func(t *testing.T) {
		latest := start.Add(3 * time.Hour)
		var writers sync.WaitGroup
		for i := range 3 { // a writer gives up after three conflicts
			writers.Go(func() { publish(t, latest, int64(10+i), fmt.Sprintf("f%d", i), start) })
		}
		writers.Wait()
		check(t, 12, "f2")
	})

	t.Run("a damaged document", func(t *testing.T) {
		head := check(t, 12, "f2")
		other, err := published.Compress([]byte(`{"environment":"production"}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"other content": other, "not compressed": []byte("x"), "half of it": other[:len(other)/2]} {
			key := "stage/production/documents/" + head.Document + ".json.gz"
			if _, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("states"), Key: &key, Body: bytes.NewReader(content)}); err != nil {
				t.Fatal(err)
			}
			if d, err := published.ReadDocument(ctx, b, head); err == nil {
				t.Errorf("%s: %+v, want an error", name, d)
			}
		}
	})
}
