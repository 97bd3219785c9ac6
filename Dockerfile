# Everything on a CPU: docker build -t onmt-preorder . && docker run --rm -it onmt-preorder bash
# The steps are those of .ci/run, which proves them.
FROM python:3.12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /onmt-preorder
COPY . .
RUN make setup
ENV PATH=/onmt-preorder/.venv/bin:$PATH
CMD ["preorder", "--help"]
