// Command chart draws a chart of grouped bars on a logarithmic axis: JSON on its standard input, SVG on its standard output.
// Each bar has its value, and a line from the lowest to the highest measured value. The same input gives the same bytes.
//
// It is a Go module of its own, because the plotting library has dependencies that nothing else of Guidon needs.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is the input.
type chart struct {
	Title  string
	Axis   string
	Groups []string
	Series []series
}

// A series has the bars of one color, one in each group. A value of 0 means that there is none.
type series struct {
	Name              string
	Values, Low, High []float64
}

var colors = []color.Color{
	color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff},
	color.RGBA{R: 0x8f, G: 0xc1, B: 0xe3, A: 0xff},
	color.RGBA{R: 0xd9, G: 0x7a, B: 0x2b, A: 0xff},
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var c chart
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return err
	}
	if len(c.Series) == 0 || len(c.Series) > len(colors) {
		return errors.New("a chart has one to three series")
	}
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = c.Title, c.Axis
	p.Title.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size, p.Y.Tick.Label.Font.Size, p.Legend.TextStyle.Font.Size = 15, 11, 10, 11
	p.Title.TextStyle.Font.Variant, p.Y.Label.TextStyle.Font.Variant, p.Y.Tick.Label.Font.Variant = "Sans", "Sans", "Sans"
	p.Legend.TextStyle.Font.Variant, p.X.Tick.Label.Font.Variant = "Sans", "Sans"
	p.Title.Padding, p.X.Tick.Label.Font.Size = 8, 11
	p.NominalX(c.Groups...)
	p.X.Min, p.X.Max = -0.6, float64(len(c.Groups))-0.4
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	p.Add(grid)
	p.Legend.Top, p.Legend.YOffs, p.Legend.Padding = true, 0, 4
	low, high := math.Inf(1), 0.0
	for i, s := range c.Series {
		b := bars{s, colors[i], (float64(i) - float64(len(c.Series)-1)/2) * groupWidth / float64(len(c.Series)), groupWidth / float64(len(c.Series))}
		p.Add(b)
		p.Legend.Add(s.Name+"   ", b) // other fonts are wider than the one that the library measures
		for j, v := range s.Values {
			if v > 0 {
				low, high = min(low, v, s.Low[j]), max(high, v, s.High[j])
			}
		}
	}
	if high == 0 {
		return errors.New("no value is above 0")
	}
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(low*0.8))), high*4 // room for the values and the legend

	canvas := vgsvg.New(vg.Length(90+75*len(c.Groups)), 380)
	canvas.SetColor(color.White)
	canvas.Fill(vg.Rectangle{Max: vg.Point{X: vg.Length(90 + 75*len(c.Groups)), Y: 380}}.Path())
	p.Draw(draw.Crop(draw.New(canvas), 8, -8, 8, -8))
	_, err := canvas.WriteTo(out)
	return err
}

// groupWidth is the part of the space of a group that its bars take.
const groupWidth = 0.86

// bars draws a series. The library's own bars start at 0, which a logarithmic axis does not have.
type bars struct {
	series
	color         color.Color
	offset, width float64 // in groups
}

// Plot draws the bars; it makes bars a plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	label := text.Style{Font: p.X.Tick.Label.Font, XAlign: text.XCenter, YAlign: text.YBottom, Handler: p.TextHandler, Color: color.Black}
	label.Font.Size = 7.5
	for i, v := range b.Values {
		if v <= 0 {
			continue
		}
		middle := x(float64(i) + b.offset)
		left, right := x(float64(i)+b.offset-b.width/2*0.94), x(float64(i)+b.offset+b.width/2*0.94)
		c.FillPolygon(b.color, []vg.Point{{X: left, Y: c.Min.Y}, {X: left, Y: y(v)}, {X: right, Y: y(v)}, {X: right, Y: c.Min.Y}})
		top := v
		if b.Low[i] > 0 && b.Low[i] < b.High[i] {
			c.StrokeLine2(draw.LineStyle{Color: color.Gray{Y: 0x33}, Width: 1}, middle, y(b.Low[i]), middle, y(b.High[i]))
			top = b.High[i]
		}
		c.FillText(label, vg.Point{X: middle, Y: y(top) + 2}, round(v))
	}
}

// Thumbnail draws the color in the legend; it makes bars a plot.Thumbnailer.
func (b bars) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(b.color, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y}})
}

// round keeps two or three significant digits.
func round(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.2f", v)
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}
