# Everything on a CPU: docker build -t onmt-preorder . && docker run --rm -it onmt-preorder bash
# The packages are a layer of their own, which an edit of the code leaves as it is.
FROM python:3.12-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /home/preorder/onmt-preorder
COPY Makefile requirements.txt constraints.txt ./
RUN make packages PIP_OPTIONS="--no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu"
COPY . .
RUN make setup

FROM python:3.12-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends make \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 preorder
COPY --from=build --chown=preorder /home/preorder/onmt-preorder /home/preorder/onmt-preorder
USER 1000
WORKDIR /home/preorder/onmt-preorder
ENV PATH=/home/preorder/onmt-preorder/.venv/bin:$PATH
CMD ["preorder", "--help"]
