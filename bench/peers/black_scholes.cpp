#include <cmath>

#include "peer.hpp"

using namespace peer;

struct Options {
  Array<double> spot, strike, rate, volatility, years;
};

Options input(std::size_t n) {
  return {generate(n, [](std::size_t i) { return 5.0 + 25.0 * unit(i, 1); }),
          generate(n, [](std::size_t i) { return 1.0 + 99.0 * unit(i, 2); }),
          generate(n, [](std::size_t) { return 0.02; }),
          generate(n, [](std::size_t) { return 0.3; }),
          generate(n, [](std::size_t i) { return 0.25 + 9.75 * unit(i, 3); })};
}

double normal(double x) {
  const double y = std::fabs(x);
  const double k = 1.0 / (1.0 + 0.2316419 * y);
  const double poly =
      k *
      (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const double tail = 0.3989422804014327 * std::exp(-0.5 * y * y) * poly;
  return x < 0.0 ? tail : 1.0 - tail;
}

Array<double> prices(const Options& options) {
  const std::size_t n = options.spot.size();
  Array<double> result(n);
  parallel_for(n, [&](std::size_t begin, std::size_t end) {
    const double* const spot = options.spot.begin();
    const double* const strike = options.strike.begin();
    const double* const rate = options.rate.begin();
    const double* const volatility = options.volatility.begin();
    const double* const years = options.years.begin();
    double* const price = result.begin();
    for (std::size_t i = begin; i < end; ++i) {
      const double v = volatility[i];
      const double spread = v * std::sqrt(years[i]);
      const double d1 =
          (std::log(spot[i] / strike[i]) + (rate[i] + 0.5 * v * v) * years[i]) / spread;
      price[i] =
          spot[i] * normal(d1) - strike[i] * std::exp(-rate[i] * years[i]) * normal(d1 - spread);
    }
  });
  return result;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, prices, [](const Options&, const Array<double>& result) {
    print(weighted_sum(result.size(), [&](std::size_t i) { return result[i]; }));
  });
}
