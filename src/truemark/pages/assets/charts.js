/* The charts of a page: lines and points by Chart.js, intervals and marked places drawn on them. */
"use strict";

/** The charts of these figures; `levels` are the thresholds that sliders move, one per run. */
globalThis.chartsOf = (figures, levels) => {
  const charts = new Map();
  const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

  /** Text with a rim in the colour of the ground, legible across lines. */
  function write(ctx, text, x, y, align, color) {
    ctx.save();
    ctx.setLineDash([]);
    Object.assign(ctx, { textAlign: align, lineWidth: 4, strokeStyle: colorOf("panel"), fillStyle: color });
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
    ctx.restore();
  }

  /** A line from `top` down to the axis. */
  function upright({ ctx, chartArea, scales }, value, top, color, dash) {
    const x = scales.x.getPixelForValue(value);
    ctx.strokeStyle = color;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, chartArea.bottom);
    ctx.stroke();
  }

  /** Draws intervals of points, marked levels and the slider's place on a chart. */
  const extras = {
    id: "extras",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      ctx.save();
      ctx.lineWidth = 1.5;
      chart.data.datasets.forEach((set) => {
        ctx.strokeStyle = set.borderColor;
        for (const point of set.data.filter(({ low }) => low !== undefined)) {
          const x = scales.x.getPixelForValue(point.x);
          ctx.beginPath();
          ctx.moveTo(x, scales.y.getPixelForValue(point.low));
          ctx.lineTo(x, scales.y.getPixelForValue(point.high));
          ctx.stroke();
        }
      });
      const counted = chart.data.datasets.filter((set) => set.data.some(({ n }) => n !== undefined));
      for (const point of counted.length === 1 ? counted[0].data : []) {
        const [x, y] = [scales.x.getPixelForValue(point.x), scales.y.getPixelForValue(point.y)];
        const right = x > area.right - 30;
        write(ctx, String(point.n), x + (right ? -7 : 7), y - 7, right ? "right" : "left", colorOf("soft"));
      }
      const figure = chart.config.options.figure;
      if (figure.run !== null) upright(chart, levels[figure.run], area.top, colorOf("accent"), []);
      // Labels point away from each other, that of the middle above the rest: no line crosses one.
      const [first, ...others] = [...figure.levels].sort((a, b) => a.x - b.x);
      [first, others.pop(), ...others].filter(Boolean).forEach((level, row) => {
        const x = scales.x.getPixelForValue(level.x);
        const onLeft = level === first && x > 80;
        const top = area.top - 14 * row;
        upright(chart, level.x, top - 10, colorOf("soft"), [3, 3]);
        write(ctx, level.label, x + (onLeft ? -5 : 5), top - 4, onLeft ? "right" : "left", colorOf("soft"));
      });
      ctx.restore();
    },
  };

  /** How far the points of a run are moved beside those of other runs at the same label. */
  const moved = (figure, place) =>
    figure.labels.length && !figure.positions.length ? 0.1 * (place - (figure.series.length - 1) / 2) : 0;

  function dataset(figure, series, place) {
    const color = colorOf(series.color);
    const { bars } = figure;
    const aside = moved(figure, place);
    return {
      type: bars ? "bar" : "scatter",
      label: series.label,
      data: series.points.map(([x, y, low, high, n]) => ({ x: x + aside, y, low, high, n })),
      maxBarThickness: 28,
      showLine: series.line,
      borderColor: color,
      backgroundColor: color,
      borderWidth: bars ? 0 : 2,
      borderDash: series.dash,
      pointRadius: series.dots ? 4 : 0,
      pointHitRadius: 8,
      clip: { left: 8, top: 8, right: 8, bottom: series.dots ? 8 : 0 },
    };
  }

  /** Where the run or level at this place of the axis stands among the labels. */
  const labelAt = (figure, x) => (figure.positions.length ? figure.positions.indexOf(x) : Math.round(x));

  function axis(title, whole, { labels, positions } = { labels: [] }) {
    const ink = colorOf("soft");
    const scale = {
      type: "linear",
      title: { display: title !== "", text: title, color: ink },
      grid: { color: colorOf("line") },
      ticks: { color: ink, maxRotation: 0 },
    };
    if (whole) Object.assign(scale, { min: 0, max: 1 });
    if (labels.length) {
      const places = positions.length ? positions : labels.map((_, place) => place);
      const side = places.length > 1 ? (places.at(-1) - places[0]) / (2 * places.length - 2) : 0.5;
      Object.assign(scale, { min: places[0] - side, max: places.at(-1) + side });
      scale.ticks.autoSkip = false;
      scale.ticks.callback = (value) => labels[places.indexOf(value)] ?? "";
      scale.afterBuildTicks = (built) => {
        // About 7 pixels a character, and a gap.
        const widest = 7 * Math.max(...labels.map((label) => label.length)) + 16;
        const width = ((scale.max - scale.min) * widest) / (built.chart.width - 60);
        let last = -Infinity;
        built.ticks = [];
        for (const value of places) {
          if (value - last < width) continue;
          built.ticks.push({ value });
          last = value;
        }
      };
    }
    return scale;
  }

  /** Follows the link of a point; the page behind is that of the run. */
  function open(figure, point) {
    if (!point) return;
    const [x] = figure.series[point.datasetIndex].points[point.index];
    const link = figure.links[labelAt(figure, x)];
    if (link) location.assign(link);
  }

  const WHOLE_NUMBERS = { precision: 0, stepSize: 1, callback: (value) => String(value).replace("-", "−") };

  /** The axes of bars: whole numbers on both, and as much room before zero as after it. */
  function barAxes(figure) {
    const far = 1 + Math.max(...figure.series.flatMap(({ points }) => points.map(([x]) => Math.abs(x))));
    const [x, y] = [axis(figure.x, false), axis(figure.y, false)];
    return {
      x: { ...x, min: -far, max: far, offset: false, grid: { ...x.grid, offset: false }, ticks: { ...x.ticks, ...WHOLE_NUMBERS } },
      y: { ...y, min: 0, ticks: { ...y.ticks, precision: 0 } },
    };
  }

  function draw(figure) {
    charts.get(figure.id)?.destroy();
    const whole = figure.run !== null || figure.unit_square;
    const options = {
      figure,
      animation: false,
      layout: { padding: { top: 14 * figure.levels.length + 4, right: 8 } },
      maintainAspectRatio: false,
      onClick: (_, [point]) => open(figure, point),
      interaction: { mode: "nearest", intersect: false },
      scales: figure.bars
        ? barAxes(figure)
        : {
            x: axis(figure.x, whole, figure),
            y: { ...axis(figure.y, figure.unit_square), max: 1, ...floor(figure) },
          },
      plugins: {
        legend: { position: "bottom", labels: { color: colorOf("ink"), boxWidth: figure.bars ? 12 : 26, boxHeight: figure.bars ? 12 : 0, filter: ({ datasetIndex }) => figure.series[datasetIndex].legend } },
        tooltip: { callbacks: { label: (item) => tip(item, figure) } },
      },
    };
    const datasets = figure.series.map((series, place) => dataset(figure, series, place));
    const chart = new Chart(document.getElementById(figure.id), {
      type: "scatter",
      data: { datasets },
      options,
      plugins: [extras],
    });
    charts.set(figure.id, chart);
  }

  /** The lowest end of an interval, which the axis must reach. */
  const lowest = (figure) =>
    Math.min(1, ...figure.series.flatMap((series) => series.points.map(([, y, low]) => low ?? y)));

  /** Where the y axis begins. A curve over thresholds falls to 0 at its ends, which would leave a
      flat line at the top of the rest, so only what lies between counts. */
  function floor(figure) {
    if (figure.run === null) return { suggestedMin: lowest(figure) };
    const between = figure.series.flatMap((series) => series.points.filter(([x]) => x > 0.02 && x < 0.98));
    return { min: Math.max(0, Math.floor(10 * Math.min(1, ...between.map(([, y]) => y)) - 1) / 10) };
  }

  function tip(item, figure) {
    const { x, y, low, high, n } = item.raw;
    const place = figure.labels[labelAt(figure, x)] ?? `${figure.x} ${figure.bars ? x : x.toPrecision(4)}`;
    const reach = low === undefined ? "" : ` (${low.toFixed(3)} to ${high.toFixed(3)})`;
    const cases = n === undefined ? "" : `, n ${n}`;
    return `${item.dataset.label}: ${figure.bars ? y : y.toFixed(3)}${reach}, ${place}${cases}`;
  }

  /** Charts are drawn when they come into view, so that a page with many opens at once. */
  function watch() {
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries.filter(({ isIntersecting }) => isIntersecting)) {
        watcher.unobserve(entry.target);
        const figure = figures.find(({ id }) => id === entry.target.id);
        if (!charts.has(figure.id)) draw(figure);
      }
    });
    figures.forEach((figure) => watcher.observe(document.getElementById(figure.id)));
  }

  const drawn = () => figures.filter((figure) => charts.has(figure.id));
  return {
    watch,
    drawAll: () => figures.forEach(draw),
    redraw: () => drawn().forEach(draw),
    moved: (figure) => charts.get(figure.id)?.draw(),
  };
};
