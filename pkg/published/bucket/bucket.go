// Package bucket publishes the states of environments in S3, and reads them. No writer replaces a state by an older one, and a reader
// gets a whole document or an error.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-json-experiment/json"

	"guidon/pkg/published"
)

// A Bucket is where states are published: a bucket, or a folder in one. It has the environments of one stage.
type Bucket struct {
	client *s3.Client
	name   string
	prefix string // "" or ends with a slash
}

// Open returns the bucket at a URL such as s3://bucket/folder or s3://bucket?region=eu-west-1. Without a region, it is in the one of cfg.
func Open(cfg aws.Config, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" && !regionQuery.MatchString(u.RawQuery) {
		return nil, fmt.Errorf("%q is not the URL of a bucket; it has the form s3://bucket/folder?region=eu-west-1, without the folder and the region if need be", address)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.Region = cmp.Or(u.Query().Get("region"), o.Region)
		o.UsePathStyle = o.BaseEndpoint != nil // an emulator knows no names of buckets in its own
		o.RetryMaxAttempts = 2                 // it runs again soon
		o.DisableLogOutputChecksumValidationSkipped = true
	}), u.Host, prefix}, nil
}

var regionQuery = regexp.MustCompile(`^region=[a-z0-9-]{0,30}$`)

// Get reads an object.
func (b *Bucket) Get(ctx context.Context, name, etag string, most int64) ([]byte, string, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name)}
	if etag != "" {
		in.IfNoneMatch = &etag
	}
	out, err := b.client.GetObject(ctx, in)
	switch status(err) {
	case http.StatusNotModified:
		return nil, "", published.ErrSame
	case http.StatusNotFound:
		return nil, "", published.ErrAbsent
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = out.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(out.Body, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return content, aws.ToString(out.ETag), err
}

// Times of publishing.
const (
	renewal  = 10 * time.Minute // a head without changes is written again after this time, so that readers know its age
	leftover = 10 * time.Minute // a document that is not current is deleted after this time: readers may still be reading it
)

// Publish makes a document current, unless a newer state is, and reports whether it wrote the head. content is the JSON of the document,
// and head describes it, without Document.
func (b *Bucket) Publish(ctx context.Context, head published.Head, content []byte) (written bool, err error) {
	const attempts = 3
	for range attempts {
		current, etag, err := published.ReadHead(ctx, b, head.Environment, "")
		if err != nil && !errors.Is(err, published.ErrAbsent) {
			return false, err
		}
		order, same := head.Compare(current), head.Hash == current.Hash
		switch {
		case etag != "" && order < 0:
			return false, nil
		case etag != "" && same && head.EpochAt.Equal(current.EpochAt) && head.WrittenAt.Sub(current.WrittenAt) < renewal:
			return false, nil // the number rose by changes of other environments
		case etag != "" && same:
			head.Document = current.Document
		default: // the number makes the name new, so that no other run deletes the document as one that is not current any more
			head.Document = strconv.FormatInt(head.EpochAt.Unix(), 10) + "-" + strconv.FormatInt(head.Number, 10) + "-" + head.Hash[:16]
			if err := b.putDocument(ctx, head, content); err != nil {
				return false, err
			}
		}
		conflict, err := b.putHead(ctx, head, etag)
		if err != nil {
			return false, err
		}
		if !conflict {
			return true, b.deleteLeftovers(ctx, head)
		}
	}
	return false, fmt.Errorf("the head of %s was changed by others %d times in a row", head.Environment, attempts)
}

// Environments returns the names of the environments that have a state in the bucket, or a thousand of them.
func (b *Bucket) Environments(ctx context.Context) ([]string, error) {
	out, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &b.prefix, Delimiter: aws.String("/")})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, folder := range out.CommonPrefixes {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(folder.Prefix), b.prefix), "/"))
	}
	return names, nil
}

func (b *Bucket) putDocument(ctx context.Context, head published.Head, content []byte) error {
	compressed, err := published.Compress(content)
	if err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: aws.String(b.prefix + published.DocumentName(head)), Body: bytes.NewReader(compressed),
		ContentType: aws.String("application/gzip"),
	})
	return err
}

// putHead writes a head if the current one has the ETag; "" stands for none. conflict reports that it has another one.
func (b *Bucket) putHead(ctx context.Context, head published.Head, etag string) (conflict bool, err error) {
	content, err := json.Marshal(head)
	if err != nil {
		return false, err
	}
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: aws.String(b.prefix + published.HeadName(head.Environment)), Body: bytes.NewReader(content), ContentType: aws.String("application/json"),
	}
	if etag != "" {
		in.IfMatch = &etag
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	_, err = b.client.PutObject(ctx, in)
	switch status(err) {
	case http.StatusPreconditionFailed, http.StatusConflict, http.StatusNotFound:
		return true, nil
	}
	return false, err
}

// deleteLeftovers deletes documents that are not current any more, also those of runs that were killed before they wrote the head.
func (b *Bucket) deleteLeftovers(ctx context.Context, head published.Head) error {
	folder := b.prefix + published.DocumentsOf(head.Environment)
	out, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &folder})
	if err != nil {
		return err
	}
	for _, object := range out.Contents {
		if key := aws.ToString(object.Key); key != b.prefix+published.DocumentName(head) && head.WrittenAt.Sub(aws.ToTime(object.LastModified)) > leftover {
			if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
				return err
			}
		}
	}
	return nil
}

// status returns the status of a response that is an error, and 0 for other errors and none.
func status(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
